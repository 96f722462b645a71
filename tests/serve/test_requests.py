"""What a request says: a file of questions as it stands, a misspelt member refused."""

from __future__ import annotations

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.serve.requests import questions_in


def test_a_file_of_questions_is_sent_as_it_stands():
    told = b'{"question": "who made [Heat]?", "answers": ["Mann"], "kind": "1hop", "hops": 1}\n'
    [one, two] = questions_in(told + b'{"question": "who?", "topics": ["Heat"], "gold": null}')
    assert (one.text, one.answers) == ("who made Heat?", None)
    assert two.topics == ("Heat",)


@pytest.mark.parametrize("name", ["topic", "Topics", "ID", "questions"])
def test_a_member_written_like_a_known_one_is_refused(name):
    with pytest.raises(JaxkgError, match=f"'{name}' is no member of a question"):
        questions_in(b'[{"question": "who?", "%s": "x"}]' % name.encode())

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.learn.planner.traces import TRACES, PlanTrace, append_traces, read_traces
from jaxkg.records import Question

TRACE = PlanTrace(
    question=Question("q1", "wer führte bei Heat Regie", ("Heat",), ("Mann",), (("r",),), (15, 19)),
    linked=("Heat",),
    spans=((15, 19),),
    plans=((("^r", "s"), ("t",)), (("r",),)),
    used=(1,),
    reasoning="r leads\nthere",
    model="m",
)
BARE = PlanTrace(Question("q2", "?"), (), (), ())


def test_traces_survive_the_file_and_the_last_of_an_id_counts(tmp_path):
    append_traces([TRACE, BARE], tmp_path / TRACES)
    later = PlanTrace(BARE.question, ("a",), (), ((("r",),),))
    append_traces([later], tmp_path / TRACES)
    assert read_traces([tmp_path]) == [TRACE, later]
    other = tmp_path / "other.jsonl"
    append_traces([BARE], other)
    assert read_traces([tmp_path / TRACES, other]) == [TRACE, BARE]


def test_a_torn_last_line_is_left_out(tmp_path):
    file = tmp_path / TRACES
    append_traces([TRACE, BARE], file)
    file.write_bytes(file.read_bytes()[:-9])
    assert read_traces([file]) == [TRACE]
    file.write_bytes(b"")
    assert read_traces([file]) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [("{}\n", r":1: not a plan trace \(KeyError"), ("[]\n", ":1"), ("{\n", ":1"), ("\n\n", ":1")],
)
def test_other_files_are_told_apart(tmp_path, text, why):
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    with pytest.raises(JaxkgError, match=why):
        read_traces([file])
    file.write_bytes(b"\xff\n")
    with pytest.raises(JaxkgError, match="not UTF-8"):
        read_traces([file])
    with pytest.raises(JaxkgError, match="no traces; make some with"):
        read_traces([tmp_path / "absent"])


def test_a_line_that_a_killed_process_left_torn_does_not_spoil_the_next(tmp_path):
    file = tmp_path / TRACES
    append_traces([TRACE, TRACE], file)
    file.write_bytes(file.read_bytes()[:-20])
    append_traces([BARE], file)
    assert read_traces([file]) == [TRACE, BARE]

import json

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.evaluate import score_predictions
from jaxkg.evaluate.runs.layouts import load_foreign
from jaxkg.records import Question


@pytest.fixture
def write(tmp_path):
    def build(*records, array=False):
        path = tmp_path / "predictions.jsonl"
        texts = [r if isinstance(r, str) else json.dumps(r) for r in records]
        path.write_text("[" + ",".join(texts) + "]" if array else "\n".join(texts), "utf-8")
        return path

    return build


def rog(key, prediction, *gold, question="who"):
    return {
        "id": key,
        "question": question,
        "prediction": prediction,
        "ground_truth": list(gold),
        "input": "the prompt",
    }


def only(path, **options):
    layout, (prediction,), _ = load_foreign(path, **options)
    return layout, prediction


def test_rog_and_gnnrag_lines(write):
    layout, prediction = only(write(rog("q", "Paris\n\n Lyon", "Paris")))
    assert layout == "rog"
    assert (prediction.key, prediction.question, prediction.gold) == ("q", "who", ("Paris",))
    assert prediction.lines == prediction.answer_lines == ("Paris", "", " Lyon")
    assert prediction.replies == ("Paris\n\n Lyon",)
    assert prediction.names == ("Paris", "Lyon")


def test_gcr_items(write):
    item = "# Reasoning Path:\nFrance -> capital -> Paris\n# Answer:\nParis"
    other = "Reasoning path:\nFrance -> city -> Lyon\nthe answer is: Lyon"
    _, prediction = only(write(rog("q", [other, item, item], "Paris")))
    assert prediction.lines == (item, other)
    assert prediction.names == ("Paris", "Lyon")


def test_subgraphrag_answer_lines(write):
    reply = "Because.\nans: Paris\n- ans: Lyon"
    layout, prediction = only(write(rog("q", reply, "Paris")))
    assert layout == "subgraphrag"
    assert prediction.answer_lines == reply
    assert prediction.names == ("Paris", "Lyon")
    # One marked reply makes the file marked: a reply without marks then answers nothing.
    layout, predictions, _ = load_foreign(write(rog("p", "Paris", "Paris"), rog("q", reply, "x")))
    assert layout == "subgraphrag"
    assert predictions[0].names == ()


@pytest.mark.parametrize(
    ("results", "reply"),
    [
        ("The answer is {Paris}. And {Lyon}.", "Paris"),
        ("I do not know.", "I do not know."),
        ("{Yes}. It is {Paris}", "Yes"),
        ("{Paris", "Pari"),
        ("} {Paris}", ""),
    ],
)
def test_tog_braces(write, results, reply):
    record = {"question": "who", "results": results, "reasoning_chains": [[["a", "r", "b"]]]}
    layout, prediction = only(write(record))
    assert layout == "tog"
    assert prediction.replies == (reply,)
    assert (prediction.key, prediction.gold) == ("who", None)


@pytest.mark.parametrize(
    ("results", "replies", "names"),
    [
        ('{"A": {"Sufficient": "Yes", "Answer": "Paris"}}', ("Paris",), ("Paris",)),
        ('so: {"Answer": ["Paris", "Lyon"]}', ("['Paris', 'Lyon']",), ("Paris", "Lyon")),
        ('{"Answer": "Rome", bad "Answer": "Paris"', ("Paris",), ("Paris",)),
        ('{bad "Answer": ["Paris", "Lyon"]', ("Paris", "Lyon"), ("Paris", "Lyon")),
        ('{"Reply": "Paris"}', ('{"Reply": "Paris"}',), ('{"Reply": "Paris"}',)),
        ("Paris", ("Paris",), ("Paris",)),
        ('{"Answer": null}', ("None",), ("None",)),
    ],
)
def test_pog_json(write, results, replies, names):
    record = {"RawQuestion": "who", "results": results, "reasoning_chains": [], "call_num": 3}
    layout, prediction = only(write(record))
    assert layout == "pog"
    assert prediction.replies == replies
    assert prediction.names == names


@pytest.mark.parametrize(
    ("generation", "reply"),
    [
        ("<think>x</think><answer> Paris </answer>", "Paris"),
        ("<answer>Paris", "Paris"),
        ("Paris", "Paris"),
        ("<answer>Paris</answer> <answer>Lyon</answer>", "Paris"),
    ],
)
def test_hypergraphrag_tags(write, generation, reply):
    record = {"question": "who", "golden_answers": ["Paris"], "generation": generation}
    layout, prediction = only(write(record, array=True))
    assert layout == "hypergraphrag"
    assert prediction.replies == (reply,)
    assert prediction.gold == ("Paris",)


def test_every_definition_side_by_side(write):
    path = write(
        rog("1", "Paris\nRome", "Paris"), rog("2", "Ann and Bob", "Ann", "Bob"), rog("3", "", "Cid")
    )
    scores = score_predictions(path, aliases={"Cid": ["El Cid"]})
    found = {name: estimate.value for name, estimate in scores.as_published.items()}
    assert found == pytest.approx(
        {
            "hits_at_1": 1 / 3,
            "hit_any": 1 / 3,
            "exact_set": 0,
            "precision": 1 / 6,
            "recall": 1 / 3,
            "f1": 2 / 9,
            "micro_f1": 2 * 1 / (2 * 1 + 2 + 3),
            "rog_hit": 2 / 3,
            "rog_f1": (2 / 3 + 4 / 3) / 3,
            "gnnrag_hit1": 2 / 3,
            "gcr_f1": (2 / 3 + 1) / 3,
            "subgraphrag_f1": (2 / 3 + 2 / 3) / 3,
            "tog_em": 1,
            "pog_em_alias": 1,
            "mrqa_em": 0,
            "mrqa_f1": (2 / 3 + 1 / 2) / 3,
        }
    )
    assert scores.all_asked == scores.as_published
    assert scores.audit["empty"] == 1


def test_denominators_are_audited(write):
    path = write(
        rog("1", "Paris", "Paris"),
        rog("1", "Rome", "Paris"),
        '{"id": "2", "question": "wh',
        rog("stranger", "Paris", "Paris"),
        rog("3", "", "Paris", "Lyon"),
    )
    gold = [Question(str(i), f"question {i}", answers=("Paris",)) for i in (1, 2, 3, 4)]
    gold.append(Question("5", "question 5", answers=()))
    scores = score_predictions(path, gold)
    assert scores.audit == {
        "asked": 5,
        "records": 4,
        "unreadable": 1,
        "repeated": 1,
        "missing": 3,
        "not_asked": 1,
        "empty": 1,
        "no_gold": 1,
        "other_gold": 1,
    }
    # In the file: two records of question 1 (right, wrong) and the empty one of question 3.
    assert (scores.as_published["hit_any"].value, scores.as_published["hit_any"].n) == (
        pytest.approx(1 / 3),
        3,
    )
    assert scores.as_published["tog_em"].value == pytest.approx(2 / 3)
    # Asked: 1 right, 3 empty, 2 and 4 missing and therefore wrong, 5 undefined.
    assert (scores.all_asked["hit_any"].value, scores.all_asked["hit_any"].n) == (1 / 4, 4)
    assert scores.all_asked["tog_em"].value == 2 / 4
    assert scores.all_asked["micro_f1"].value == pytest.approx(2 / (2 + 3))
    text = scores.to_markdown()
    assert "| questions asked without a record | 3 |" in text
    assert "| `hit_any` | 0.3333 |" in text


def test_tog_and_pog_find_gold_by_the_question(write):
    gold = [Question("id-7", "Who  is it?", answers=("Paris",))]
    tog = {"question": "who is it?", "results": "{Paris}", "reasoning_chains": []}
    assert score_predictions(write(tog), gold).all_asked["tog_em"].value == 1
    first = {"question": "who is it?", "results": "{}", "reasoning_chains": [], "call_num": 1}
    last = first | {"results": '{"Answer": "Rome"}'}
    scores = score_predictions(write(first, last), {"Who is it?": ["Paris"]})
    # PoG's script keeps the last record; asked once, the first counts.
    assert scores.as_published["hit_any"].n == 1
    assert scores.audit["repeated"] == 1
    with pytest.raises(JaxkgError, match="layout 'tog' carries no gold answers; give them"):
        score_predictions(write(tog))


def test_strict_names_ignore_what_readers_ignore(write):
    scores = score_predictions(write(rog("1", "l’été", "L'Été", "Extra")))
    assert scores.as_published["hits_at_1"].value == 1
    assert scores.as_published["rog_hit"].value == 0


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        ([{"x": 1}], {}, "no layout of .* has the fields x; name it"),
        ([{"answers": [], "gold": []}], {}, "jaxkg's own predictions; .*`jaxkg score "),
        (
            [rog("1", "a", "b"), {"id": "2"}],
            {},
            r":2: no record of layout 'rog': it has no 'prediction'",
        ),
        ([rog("1", "a", "b") | {"ground_truth": "b"}], {}, "'b' is no list of strings"),
        ([rog("1", None, "b")], {}, "None is no list of strings"),
        (["[]"], {}, "no prediction that can be read"),
        (["{", "{"], {}, r"no prediction that can be read \(2 broken lines\)"),
        (["3"], {}, ":1: a JSON int, not an object"),
        ([{"x": 1}], {"layout": "chatbot"}, "unknown layout 'chatbot'"),
        ([{"results": "x"}], {}, "it has no 'question'; its fields are results"),
    ],
)
def test_what_cannot_be_read_is_named(write, records, options, message):
    with pytest.raises(JaxkgError, match=message):
        load_foreign(write(*records), **options)


def test_no_file_and_no_gold(tmp_path, write):
    with pytest.raises(JaxkgError, match=r"none of the 1 records .* says '1', the gold .* 'x'"):
        score_predictions(write(rog("1", "a", "b")), {"x": ["b"]})
    with pytest.raises(JaxkgError, match="cannot be read"):
        load_foreign(tmp_path / "nowhere.jsonl")
    with pytest.raises(JaxkgError, match="no questions among"):
        score_predictions(write(rog("1", "a", "b")), {})

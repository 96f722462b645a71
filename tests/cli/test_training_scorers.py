"""Scorers and embeddings are trained from the command line, and what they leave is usable."""

import pytest

from jaxkg.cli.parts import encoder_named
from jaxkg.learn.embedding_fit import TrainedEmbeddings
from jaxkg.records import Answer
from jaxkg.text.hashing import HashingEncoder

pytestmark = pytest.mark.usefixtures("standard_promotion")


def small_encoder(name):
    return HashingEncoder(buckets=64) if name == "hashing" else encoder_named(name)


@pytest.fixture
def ring(tmp_path):
    """A ring of twelve, one fact held back, one of a stranger."""
    facts = [f"e{i}\tnext\te{(i + 1) % 12}" for i in range(12)]
    facts += [f"e{i}\tback\te{(i - 1) % 12}" for i in range(12)]
    for name, lines in (("train", facts[1:]), ("held", [facts[0]]), ("odd", ["e1\tnext\tz"])):
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_embeddings_are_trained_ranked_and_kept(jaxkg, ring):
    common = ["train", "kge", "--kg", ring / "train.tsv", "--dimension", 16, "--epochs", 20]
    held, folder = ring / "held.tsv", ring / "out"
    code, out, _ = jaxkg(*common, "--validation", held, "--test", held, "-o", folder)
    assert code == 0
    assert "complex of 12 entities" in out
    assert "mrr_realistic" in out
    assert TrainedEmbeddings.open(folder).embeddings.entity.shape == (12, 16)

    code, out, err = jaxkg(*common, "--validation", ring / "odd.tsv", "-o", ring / "other")
    assert code == 2
    assert "1 facts left out" in out
    assert "both are needed" in err
    for wrong in ("--model", "--loss"):
        code, _, err = jaxkg(*common, "--validation", held, "-o", ring / "x", wrong, "transh")
        assert code == 2
        assert "'transh'" in err


def test_a_ranker_is_trained_and_asked(jaxkg, tmp_path, monkeypatch):
    for place in ("training_scorers", "parts"):  # a small one: most of the time went into its size
        monkeypatch.setattr(f"jaxkg.cli.{place}.encoder_named", small_encoder)
    facts = [f"film{i}\tdirected by\tperson{i % 5}" for i in range(15)]
    facts += [f"person{i}\tborn in\ttown{i % 3}" for i in range(5)]
    (tmp_path / "kg.tsv").write_text("\n".join(facts) + "\n")
    lines = [
        f'{{"id": "q{i}", "question": "who made film{i}", "topics": ["film{i}"], '
        f'"answers": ["person{i % 5}"]}}'
        for i in range(15)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(lines) + "\n")
    common = ["--kg", tmp_path / "kg.tsv"]
    train = ["train", "ranked", *common, "--questions", tmp_path / "q.jsonl", "--epochs", 3]
    code, out, err = jaxkg(*train, "--encoder", "hashing", "-o", tmp_path / "ranker")
    assert code == 0, err
    assert "a ranker of the paths along 2 relations" in out
    ask = ["ask", "--system", "ranked", *common, "--set", f"model={tmp_path / 'ranker'}"]
    code, out, err = jaxkg(*ask, "--set", "encoder=hashing", "--json", "who made [film3]?")
    assert code == 0, err
    answer = Answer.from_json(out)
    assert answer.system == "ranked"
    assert answer.paths[0].citations[0].head == "film3"
    assert jaxkg(*train, "--encoder", "words", "-o", tmp_path / "r2")[0] == 2

"""Scorers and embeddings are trained from the command line, and what they leave is usable."""

import pytest
from dated_films import film_files
from tiny_bert import write_tiny_bert

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph
from jaxkg.learn.embeddings.fit import TrainedEmbeddings
from jaxkg.learn.priority.model import PriorityModel
from jaxkg.learn.ranker.fit import PathRanker
from jaxkg.systems.pathmind.system import PathMind
from jaxkg.text.best import encoder_named
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
    out = jaxkg.done(*common, "--validation", held, "--test", held, "-o", folder)
    assert "complex of 12 entities" in out
    assert "mrr_realistic" in out
    assert TrainedEmbeddings.open(folder).embeddings.entity.shape == (12, 16)

    code, out, err = jaxkg(*common, "--validation", ring / "odd.tsv", "-o", ring / "other")
    assert code == 2
    assert "1 facts left out" in out
    assert "both are needed" in err
    for wrong in ("--model", "--loss"):
        err = jaxkg.refused(*common, "--validation", held, "-o", ring / "x", wrong, "transh")
        assert "'transh'" in err


@pytest.fixture
def films(tmp_path, monkeypatch):
    """Options naming a small graph, and its questions."""
    # A small encoder: most of the time went into its size.
    monkeypatch.setattr("jaxkg.text.best.encoder_named", small_encoder)
    return film_files(tmp_path)


@pytest.mark.slow
def test_a_ranker_is_trained_and_asked(jaxkg, tmp_path, films):
    common, questions = films
    train = ["train", "ranked", *common, *questions, "--epochs", 3]
    out = jaxkg.done(*train, "--encoder", "hashing", "-o", tmp_path / "ranker")
    assert "a ranker of the paths along 2 relations, up to 2 hops" in out
    assert "trained on 15 of 15 questions" in out
    assert PathRanker.open(tmp_path / "ranker").directed
    ask = ["ask", "--system", "ranked", *common, "--set", f"model={tmp_path / 'ranker'}"]
    out = jaxkg.done(*ask, "--set", "encoder=hashing", "--json", "who made [film3]?")
    answer = Answer.from_json(out)
    assert answer.system == "ranked"
    assert answer.paths[0].citations[0].head == "film3"
    assert jaxkg(*train, "--encoder", "words", "-o", tmp_path / "r2")[0] == 2


@pytest.mark.slow
def test_a_reader_of_steps_is_trained_and_asked(jaxkg, tmp_path, films, monkeypatch):
    pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors.numpy")
    monkeypatch.undo()
    (tmp_path / "bert").mkdir()
    bert = write_tiny_bert(tmp_path / "bert", ["who", "made", *(f"film{i}" for i in range(15))])
    common, questions = films
    train = ["train", "ranked", "--by", "steps", *common, *questions, "--epochs", 2]
    out = jaxkg.done(*train, "--encoder", bert, "-o", tmp_path / "steps")
    assert "a reader of paths along 2 relations, up to 4 hops" in out
    assert "trained on 15 questions with 15 topics; left out 0, " in out
    ask = ["ask", "--system", "ranked", *common, "--set", f"model={tmp_path / 'steps'}"]
    out = jaxkg.done(*ask, "--set", f"encoder={bert}", "--json", "who made [film3]?")
    answer = Answer.from_json(out)
    assert answer.system == "ranked"
    assert answer.paths[0].citations[0].head == "film3"
    assert "no weights of" in jaxkg.refused(*ask, "--set", "encoder=hashing", "who made [film3]?")


@pytest.mark.slow
def test_path_priorities_ask_for_the_encoder_they_were_trained_with(jaxkg, tmp_path, films):
    common, questions = films
    train = ["train", "pathmind", *common, *questions, "--epochs", 1, "--hops", 1]
    out = jaxkg.done(*train, "--encoder", "hashing", "-o", tmp_path / "model")
    assert "trained on 15 of 15 questions" in out
    model = PriorityModel.open(tmp_path / "model")
    encoder = small_encoder("hashing")
    assert model.about["encoder"] == [encoder.name, encoder.revision]
    ask = ["ask", "--system", "pathmind", *common, "--set", f"model={tmp_path / 'model'}"]
    out = jaxkg.done(*ask, "--set", "threshold=0", "--json", "who made [film3]?")
    assert Answer.from_json(out).system == "pathmind"
    with pytest.raises(JaxkgError, match="reads vectors of hashing"):
        PathMind.build(read_graph(common[1]), model)

"""`jaxkg train`: settings, stopping and going on, folders that hold something, language models."""

import json
import signal

import numpy as np
import pytest
from dated_films import film_files

from jaxkg.learn.edges.model import TrainedScorer
from jaxkg.learn.folder import TRAINING
from jaxkg.learn.planner.model import Planner
from jaxkg.lm import LanguageModel
from jaxkg.lm.checkpoint import named_tensors

pytestmark = pytest.mark.usefixtures("standard_promotion")


@pytest.fixture
def films(tmp_path):
    """Options naming a small graph and its questions."""
    graph, questions = film_files(tmp_path)
    return [*graph, *questions]


@pytest.mark.slow
def test_a_planner_is_set_stopped_gone_on_with_and_not_written_over(
    jaxkg, tmp_path, films, monkeypatch, interruptible
):
    train = ["train", "planner", *films, "--hops", 1, "--epochs", 4]
    train += ["--set", "width=16", "--set", "buckets=64", "--set", "patience=9"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert "a planner for 2 relations, up to 1 hops" in jaxkg.done(*train, "-o", whole)
    planner = Planner.open(whole)
    assert planner.params.ngram.shape == (64, 16)

    from jaxkg.learn.planner import train as training

    asked, held_out_f1 = [], training.held_out_f1

    def stopping(*given, **options):
        asked.append(1)
        if len(asked) == 2:
            signal.raise_signal(signal.SIGINT)
        return held_out_f1(*given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(training, "held_out_f1", stopping)
        code, out, err = jaxkg(*train, "-o", parts)
    assert (code, out) == (130, "")
    assert "the same command resumes from" in err
    assert sorted(file.name for file in parts.iterdir()) == [TRAINING]
    for _ in range(2):  # the second time nothing is left to do
        assert "ran 4 of 4 epochs; kept number " in jaxkg.done(*train, "-o", parts)
        assert Planner.open(parts).about["fit"]["epochs"] == planner.about["fit"]["epochs"]
    for name, array in planner.params._asdict().items():
        np.testing.assert_array_equal(array, Planner.open(parts).params._asdict()[name])

    err = jaxkg.refused(*train, "-o", parts, "--seed", 1)
    assert "another run (its questions, seed differ)" in err.replace("\n", " ")
    assert jaxkg(*train, "-o", parts, "--seed", 1, "--fresh")[0] == 0
    assert Planner.open(parts).about["seed"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "depth=3"], "--set depth=3: no such setting here; there are hops, width"),
        (["--set", "width=wide"], "--set width=wide: it is a whole number"),
        (
            ["--set", "batch_size=0"],
            "--set batch_size=0: batch_size is a whole number of at least 1",
        ),
    ],
)
def test_wrong_settings_are_told_before_anything_is_done(jaxkg, tmp_path, films, arguments, told):
    assert told in jaxkg.refused("train", "planner", *films, "-o", tmp_path / "new", *arguments)
    assert not (tmp_path / "new").exists()


def test_folders_that_hold_something_are_refused_before_training(jaxkg, tmp_path, films):
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "ranker.json").write_text("{}")
    for kind, told in (("planner", "holds other files"), ("ranked", "a trained model already")):
        assert told in jaxkg.refused("train", kind, *films, "-o", folder)
    assert "is a file" in jaxkg.refused("train", "planner", *films, "-o", tmp_path / "q.jsonl")


@pytest.mark.slow
def test_a_hybrid_edge_scorer_reads_the_vectors_of_trained_embeddings(jaxkg, tmp_path, films):
    facts = tmp_path / "kg.tsv"
    transe = ["train", "kge", "--kg", facts, "--validation", facts, "--model", "transe"]
    transe += ["--dimension", 8, "--set", "epochs=2", "--set", "batch_size=16"]
    jaxkg.done(*transe, "-o", tmp_path / "kge")
    guided = ["train", "guided", *films, "--encoder", "hashing", "--hops", 1, "--epochs", 1]
    guided += ["--embeddings", tmp_path / "kge", "--set", "steps=2", "--set", "batch_size=32"]
    jaxkg.done(*guided, "-o", tmp_path / "edges")
    scorer = TrainedScorer.open(tmp_path / "edges")
    assert scorer.sizes.graph == 8
    assert scorer.node_graph.any()


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_language_model_is_taught_and_then_told_what_is_better(jaxkg, tmp_path):
    colours = ["red", "blue", "green"]
    sft = write_rows(
        tmp_path / "sft.jsonl",
        [{"prompt": f"say {name}", "completion": f"{name}\nis said"} for name in colours],
    )
    dpo = write_rows(
        tmp_path / "dpo.jsonl",
        [
            {
                "prompt": [{"role": "user", "content": f"say {name}"}],
                "chosen": name,
                "rejected": "no",
            }
            for name in colours
        ],
    )
    small = ["--set", "length=64", "--set", "batch_size=2", "--set", "epochs=2"]
    base = tmp_path / "base"
    out = jaxkg.done("train", "lm", "--sft", sft, "--vocabulary", 300, *small, "-o", base)
    assert "taught 3 examples (all weights)" in out
    before = dict(named_tensors(LanguageModel.open(base).model))
    better = ["train", "lm", "--dpo", dpo, "--base", base, "--lora", 2, *small]
    code, out, err = jaxkg(*better, "-o", tmp_path / "better")
    assert code == 0, err
    assert "taught 3 pairs (a LoRA of rank 2, merged)" in out
    made = LanguageModel.open(tmp_path / "better")
    assert made.about["trained"]["lora_rank"] == 2
    after = dict(named_tensors(made.model))
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed
    assert all("proj" in name for name in changed)

    for arguments, told in (
        ([], "either --sft FILE or --dpo FILE"),
        (["--dpo", dpo], "--base FOLDER"),
        (["--sft", dpo], 'dpo.jsonl:1: not {"prompt": "...", "completion"'),
        (["--dpo", sft, "--base", base], "sft.jsonl:1: not"),
        (["--sft", tmp_path / "none"], "no such file"),
    ):
        err = jaxkg.refused("train", "lm", *arguments, "-o", tmp_path / "x")
        assert told in err.replace("\n", " ")

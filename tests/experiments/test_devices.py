"""`--devices`: several devices share questions, or divide a graph, and answer as one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import pytest

from jaxkg.adjudicate import Scripted
from jaxkg.errors import JaxkgError
from jaxkg.experiments.registry import SYSTEMS, build_system
from jaxkg.kg import demo_graph, demo_questions
from jaxkg.kg.stores.arrays import ArrayStore
from jaxkg.systems.adjudicated import AdjudicatedQA
from jaxkg.systems.offered import OfferedQA
from jaxkg.systems.parts import Devices, Parts
from jaxkg.systems.replicated import ReplicatedQA


def parts(**options) -> Parts:
    return Parts(demo_graph(), lambda stage, done, total: None, **options)


@pytest.mark.parametrize(
    ("text", "devices"),
    [("1", Devices()), ("4", Devices(4)), ("1x4", Devices(1, 4)), ("02x10", Devices(2, 10))],
)
def test_devices_are_read(text, devices):
    assert Devices.read(text) == devices


@pytest.mark.parametrize(
    "text", ["", "0", "3x", "x3", "2x0", "-1", "1x2x3", "two", "2 x 2", "2X2", "\u0662", "9" * 99]
)
def test_what_says_no_devices_is_told(text):
    with pytest.raises(JaxkgError, match="write 4 for questions over four devices, or 2x4"):
        Devices.read(text)


@pytest.mark.parametrize("name", [name for name, entry in SYSTEMS.items() if not entry.divided])
def test_other_systems_take_the_graph_whole(name):
    why = f"--devices 2x2: --system {name} takes a graph whole, --devices 4; divided: planner"
    with pytest.raises(JaxkgError, match=why):
        build_system(name, parts(devices=Devices(2, 2)))


@pytest.mark.parametrize("devices", [Devices(2), Devices(1, 2)])
def test_a_store_is_asked_on_one(devices):
    store = ArrayStore(demo_graph())
    with pytest.raises(JaxkgError, match="--devices requires a graph that is read whole"):
        build_system("planner", parts(devices=devices, store=store, planner_folder=Path("none")))


@pytest.mark.parametrize(
    ("name", "wishes"), [("reknos", {}), ("proh", {"encoder": "hashing"}), ("llm-planned", {})]
)
def test_a_model_that_is_asked_within_a_search_is_asked_of_one(name, wishes):
    with pytest.raises(JaxkgError, match=f"--system {name} asks the language model as it searches"):
        build_system(name, parts(devices=Devices(2), backend=Scripted([]), wishes=wishes))


def test_a_model_that_refines_is_asked_of_one():
    wishes = {"query": "text", "encoder": "hashing", "dimension": "64", "refine": "3"}
    with pytest.raises(JaxkgError, match="--system pathhd asks the language model"):
        build_system("pathhd", parts(devices=Devices(2), backend=Scripted([]), wishes=wishes))


def test_a_model_judges_what_all_have_found():
    def nothing(request):
        return "{}"

    offering = build_system("planner", parts(devices=Devices(2), backend=Scripted(nothing)))
    assert isinstance(offering, OfferedQA)
    assert isinstance(offering.inner, ReplicatedQA)
    assert offering.threshold == offering.inner.copies[0].threshold > 0
    wishes = {"judge": "paths"}
    built = build_system(
        "planner", parts(devices=Devices(2), backend=Scripted(nothing), wishes=wishes)
    )
    assert isinstance(built, AdjudicatedQA)
    assert isinstance(built.inner, ReplicatedQA)
    assert [answer.usage.calls for answer in built.answer(demo_questions()[:3])] == [1, 1, 1]


def test_another_system_of_the_same_graph_takes_copies_of_its_tensors():
    mine = parts(devices=Devices(2))
    first: Any = build_system("planner", mine)
    again = mine.beside(None, {})
    second: Any = build_system("planner", again)
    assert second.copies[0].tensors is first.copies[0].tensors
    own = second.copies[1].tensors
    assert own.head is first.copies[0].tensors.head
    assert own.graph.head.devices() == {jax.devices()[1]}
    assert second.copies[1].linker is first.copies[0].linker


@pytest.mark.slow
def test_answers_are_those_of_one_device(tmp_path):
    def near(written):
        """Programs of other shapes may differ in the last bits."""
        return pytest.approx(float(written), rel=1e-3)

    told = []
    for devices, count in (("1", "1"), ("1x4", "4"), ("2x2", "4"), ("3", "4")):
        folder = tmp_path / devices
        words = ["eval", "-o", str(folder), "--system", "planner", "--devices", devices]
        subprocess.run(
            # More than two batches, so that several are under way.
            [sys.executable, "-m", "jaxkg", *words, "--set", "batch-size=8"],
            env=os.environ | {"JAX_NUM_CPU_DEVICES": count, "JAX_PLATFORMS": "cpu"},
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=600,
        )
        lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        number = float if told else near
        read = (json.loads(line, parse_float=number) for line in lines)
        told.append([{**line, "usage": None} for line in read])
    assert sum(bool(line["answers"]) for line in told[0]) > 20
    assert told[1:] == told[:1] * 3

"""`--devices`: a graph divided over several devices is asked as on one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.experiments.parts import Parts
from jaxkg.experiments.registry import SYSTEMS, build_system
from jaxkg.kg import demo_graph
from jaxkg.kg.stores.arrays import ArrayStore


def parts(**options) -> Parts:
    return Parts(demo_graph(), lambda stage, done, total: None, **options)


@pytest.mark.parametrize("name", [name for name, entry in SYSTEMS.items() if not entry.divided])
def test_other_systems_take_one(name):
    with pytest.raises(JaxkgError, match=f"--system {name} takes one device; several: planner"):
        build_system(name, parts(devices=2))


def test_a_store_is_asked_on_one():
    store = ArrayStore(demo_graph())
    with pytest.raises(JaxkgError, match="--devices divides a graph that is read whole"):
        build_system("planner", parts(devices=2, store=store, planner_folder=Path("none")))


def test_more_than_there_are():
    with pytest.raises(JaxkgError, match="wants 9 devices; there are 8"):
        build_system("planner", parts(devices=9))


@pytest.mark.slow
def test_answers_are_those_of_one_device(tmp_path):
    told = []
    for devices in ("1", "4"):
        folder = tmp_path / devices
        words = ["eval", "-o", str(folder), "--system", "planner", "--devices", devices]
        subprocess.run(
            # More than two batches, so that several are under way.
            [sys.executable, "-m", "jaxkg", *words, "--set", "batch-size=8"],
            env=os.environ | {"JAX_NUM_CPU_DEVICES": devices, "JAX_PLATFORMS": "cpu"},
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=600,
        )
        lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        told.append([{**json.loads(line), "usage": None} for line in lines])
    assert sum(bool(line["answers"]) for line in told[0]) > 20
    assert told[1] == told[0]

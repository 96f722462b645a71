"""Two processes on this machine share a batch, and their answers add up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_two_processes_answer_their_share():
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("JAX_NUM_CPU_DEVICES", None)
    run = subprocess.run(
        [sys.executable, ROOT / "scripts" / "device" / "multihost.py"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert "process 0 of 2: 2 of 4 devices" in run.stdout
    assert "process 1 of 2: 2 of 4 devices" in run.stdout
    assert "63 answers in all; the graph has 63 such facts" in run.stdout

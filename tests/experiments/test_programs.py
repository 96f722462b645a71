"""What a process has held, by its own account."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jaxkg.experiments.programs import peak_memory, peak_memory_of


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no account of processes")
def test_a_child_is_told_without_its_parent():
    wait = [sys.executable, "-c", "print('ready', flush=True); input()"]
    with subprocess.Popen(wait, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        held = np.ones(1 << 24)  # 128 MB, which the child has not
        assert 1 << 20 < peak_memory_of(child.pid) < held.nbytes < peak_memory()
        child.communicate(b"\n")
    assert peak_memory_of(child.pid) == 0

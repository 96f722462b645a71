"""Damaged files of every foreign format: each is read, or refused in one line, within seconds.

The samples of `tests/kg/files/foreign/samples` are cut, repeated, mixed with one another and filled
with odd bytes and long names. Prints for each sample how many inputs were taken, how many were
refused, and every other end; a traceback, a hang of more than ten seconds and a message of several
lines are such ends. Ends with code 1 where there is one.

    python scripts/study/fuzz_formats.py --inputs 500 --seed 0
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxkg.errors import JaxkgError
from jaxkg.kg import read_graph

SAMPLES = Path(__file__).parent.parent.parent / "tests" / "kg" / "files" / "foreign" / "samples"
SECONDS = 10
_ODD = [
    *("\0", "\ufeff", "\r", "\n", "\t", '"', "'", "`", "\\", "[", "]", "{", "}", "(", ")", "<"),
    *("::", "|", ",", ";", "@", "#", "!", "^", "_:", "/*", "--", "-->", "0", "-1", "1e999"),
    *("\u202e", "\ud7ff", "é", "  ", "x" * 5000, "[[" * 300, "(" * 300, "{" * 300, "9" * 400),
]  # fmt: skip


class Hang(BaseException):
    """An input takes too long."""


def damaged(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Some bytes of a file, changed in one to six places."""
    for _ in range(draw.choice([1, 1, 1, 2, 3, 6])):
        at, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
        end = min(end, at + draw.choice([1, 8, 80, 10_000]))
        kind = draw.randrange(7)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:end] + data[at:end] * draw.choice([1, 2, 50]) + data[end:]
        elif kind == 3:
            data = data[:at] + draw.choice(_ODD).encode("utf-8", "surrogatepass") + data[at:]
        elif kind == 4:
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        elif kind == 5:
            lines = data.split(b"\n")
            draw.shuffle(lines)
            data = b"\n".join(lines)
        else:
            other = draw.choice(others)
            start = draw.randrange(len(other) + 1)
            data = data[:at] + other[start : start + 200] + data[at:]
    return data


def _raise(*_: Any) -> None:
    raise Hang


def ended(path: Path) -> str:
    """How the reading of a file ends."""
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read_graph(path, on_reading=lambda told: None, lines=True)
    except JaxkgError as error:
        return "refused" if "\n" not in str(error) else "a message of several lines"
    except Hang:
        return "a hang"
    except Exception as error:  # noqa: BLE001 - every other end is what is looked for
        traceback.print_exc()
        return f"{type(error).__name__}: {str(error)[:80]}"
    finally:
        signal.alarm(0)
    return "taken"


def run(
    inputs: int, seed: int, folder: Path, only: str = "", within: Path = SAMPLES
) -> dict[str, Counter[str]]:
    """How damaged inputs of each sample end."""
    signal.signal(signal.SIGALRM, _raise)
    samples = sorted(path for path in within.iterdir() if only in path.name)
    files = [file for file in within.rglob("*") if file.is_file()]
    others = [file.read_bytes() for file in files]
    ends: dict[str, Counter[str]] = {}
    for sample in samples:
        draw = random.Random(f"{seed} {sample.name}")
        ends[sample.name] = Counter()
        for number in range(inputs):
            target = folder / sample.name
            if sample.is_dir():
                shutil.copytree(sample, target, dirs_exist_ok=True)
                chosen = draw.choice(sorted(file for file in target.rglob("*") if file.is_file()))
            else:
                chosen = shutil.copy(sample, target)
            chosen = Path(chosen)
            chosen.write_bytes(damaged(chosen.read_bytes(), draw, others))
            how = ended(target)
            ends[sample.name][how] += 1
            if how not in ("taken", "refused"):
                kept = folder / f"kept {sample.name} {number}"
                (shutil.copytree if sample.is_dir() else shutil.copy)(target, kept)
                print(f"{kept}: {how}", file=sys.stderr)
            shutil.rmtree(target) if sample.is_dir() else target.unlink()
    return ends


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a sample's name")
    parser.add_argument("--samples", type=Path, default=SAMPLES, help="folder of samples")
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-formats-"))
    ends = run(options.inputs, options.seed, folder, options.only, options.samples)
    for name, counted in ends.items():
        print(f"{name:18s} " + ", ".join(f"{n} {how}" for how, n in counted.most_common()))
    if {how for counted in ends.values() for how in counted} - {"taken", "refused"}:
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

"""A language model of a script's options: at an endpoint, or as its stored replies have it."""

from __future__ import annotations

import argparse
from pathlib import Path

from jaxkg.adjudicate import Meter, Replay, connect

ARCHIVE = Path(__file__).resolve().parents[2] / "tests" / "replies" / "replies.sqlite.gz"


def reply_options(parser: argparse.ArgumentParser) -> None:
    """Options of who replies, beside `--llm`."""
    parser.add_argument("--server", default="", help="what runs it, to be told")
    parser.add_argument("--replies", type=Path, default=ARCHIVE, help="file of replies")
    parser.add_argument("--replay", action="store_true", help="answer from the replies alone")


def model_of(options: argparse.Namespace) -> Meter:
    """The model that `--llm` names."""
    if options.replay:
        return Meter(Replay(options.replies, options.llm))
    return connect(options.llm, cache=options.replies, timeout=300.0)

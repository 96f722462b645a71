"""The command's frame: subcommands and one-line errors."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext

import typer

from jaxkg.cli.ask import ask, explain
from jaxkg.cli.caching import cache
from jaxkg.cli.chatting import chat
from jaxkg.cli.comparing import compare
from jaxkg.cli.evaluating import evaluate, score
from jaxkg.cli.graphs import formats, graphs
from jaxkg.cli.hypergraphs import hypergraphs
from jaxkg.cli.models import models
from jaxkg.cli.reproducing import reproduce
from jaxkg.cli.serving import mcp, serve
from jaxkg.cli.training.distilling import distill
from jaxkg.cli.training.scorers import training
from jaxkg.errors import JaxkgError
from jaxkg.experiments.datasets import datasets
from jaxkg.experiments.progress import errors, voice

app = typer.Typer(
    name="jaxkg",
    help="Ask a knowledge graph a question; get a cited answer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ask")(ask)
app.command("chat")(chat)
app.command("explain")(explain)
app.command("eval")(evaluate)
app.command("score")(score)
app.command("compare")(compare)
app.command("reproduce")(reproduce)
app.command("distill")(distill)
app.command("datasets")(datasets)
app.command("formats")(formats)
app.command("serve")(serve)
app.command("mcp")(mcp)
app.add_typer(graphs, name="kg")
app.add_typer(hypergraphs, name="hypergraph")
app.add_typer(training, name="train")
app.add_typer(models, name="llm")
app.command("cache")(cache)


@app.callback()
def _frame(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks; accepted anywhere."),
    quiet: bool = typer.Option(False, "--quiet", help="Write only errors to standard error."),
    profile: bool = typer.Option(
        False, "--profile", help="Report seconds, memory and compiled programs; accepted anywhere."
    ),
) -> None:
    """Ask a knowledge graph a question; get a cited answer."""


def main(argv: list[str] | None = None) -> None:
    """Run the command; exit code 0, 1 (an answer was withheld), 2 (bad input) or 130 (stopped)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments or bool(os.environ.get("JAXKG_DEBUG"))
    quiet = "--quiet" in arguments
    profile = "--profile" in arguments
    arguments = [each for each in arguments if each not in ("--debug", "--quiet", "--profile")]
    if "--version" in arguments[:1]:
        from jaxkg import __version__

        print(__version__)
        return
    # NumPy's products here are small: further threads would but wait for the next one, busily.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # GPUs and TPUs round the factors of float32 products unless told: answers would depend on them.
    os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
    _any_terminal()
    try:
        with voice(quiet=quiet), _profiled() if profile else nullcontext():
            app(args=arguments, prog_name="jaxkg")
    except (JaxkgError, OSError) as error:
        if debug:
            raise
        told = str(error)
        if isinstance(error, OSError) and error.filename and error.strerror:
            told = f"{os.fsdecode(error.filename)}: {error.strerror}"
        errors.print(f"jaxkg: {told}")
        sys.exit(2)
    except SystemExit as stop:
        # Typer makes this code of a keyboard interrupt, without a word.
        if stop.code == 130:
            errors.print("jaxkg: stopped")
        raise


def _profiled() -> AbstractContextManager[None]:
    from jaxkg.experiments.programs import profiled

    return profiled(lambda line: errors.print(f"jaxkg: {line}"))


_PLAIN = {"→": "->", "←": "<-", "…": "..."}


def _any_terminal() -> None:
    """Let standard output take every character, also where its encoding has no name for it.

    Where it is closed, what is printed is for nobody.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the process ends

    def plain(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        units = (
            _PLAIN.get(char) or json.dumps(char)[1:-1]
            for char in error.object[error.start : error.end]
        )
        return "".join(units), error.end

    codecs.register_error("jaxkg", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="jaxkg")

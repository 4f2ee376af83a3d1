"""The command line: parse, call, print."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from ..errors import CheckpointError, DecodingError, OptionError
from . import (  # noqa: F401  (each adds its commands to the app)
    analyze,
    bench,
    decode,
    evaluate,
    listing,
    serve,
    trace,
    train,
)
from .app import app

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake is one line on standard error and exit code 2."""
    try:
        code = app(arguments, prog_name="focore", standalone_mode=False)
    except (OptionError, CheckpointError) as error:
        _fail(str(error), 2)
    except DecodingError as error:
        _fail(str(error), 1)
    except typer.Abort:  # as releases of typer differ
        _fail("interrupted", INTERRUPTED)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        _fail(error.format_message(), 2)
    else:
        if code == INTERRUPTED:
            _fail("interrupted", code)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    line = " ".join(message.split())
    print(f"focore: {line}", file=sys.stderr)
    sys.exit(code)

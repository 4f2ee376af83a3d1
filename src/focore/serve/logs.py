"""Logs as JSON, one object a line."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger("focore.serve")


class JsonLines(logging.Formatter):
    """A record as one JSON object: what was said, and the fields that came with it."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=True, default=str)


def tell(event: str, **fields: Any) -> None:
    """Log an event with its fields."""
    log.info(event, extra={"fields": fields})


def log_to_stderr(level: int = logging.INFO) -> logging.Handler:
    """Send our log and uvicorn's to standard error."""
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(JsonLines())
    for name, least in (("focore", level), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.addHandler(stream)
        logger.propagate = False
        logger.setLevel(least)
    return stream


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """The same until the block ends, for callers that go on afterwards."""
    stream = log_to_stderr()
    try:
        yield
    finally:
        for name in ("focore", "uvicorn"):
            logger = logging.getLogger(name)
            logger.removeHandler(stream)
            logger.propagate = True
            logger.setLevel(logging.NOTSET)

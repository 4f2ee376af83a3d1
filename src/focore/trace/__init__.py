"""Runs kept step by step, in files and as pages.

from focore.trace import page, record, save

trace = record(model, "What is 17 + 25?", method="focore")
save(trace, "run.npz")
Path("run.html").write_text(page([trace]), encoding="utf-8")
"""

from .page import page
from .recording import Recording, record, record_infill, recording_of, trace_of
from .storage import load, save
from .trace import About, Trace

__all__ = ["About", "Recording", "Trace", "load", "page", "record", "record_infill"]
__all__ += ["recording_of", "save", "trace_of"]

"""How many replicas a stream of requests needs: a simulation, step by step of the engine."""

from .costs import GPU, LLADA_8B, Counted, Linear
from .fleet import Outcome, Replica, simulate
from .plan import Service, alone, capacity, latencies, p95, smallest
from .traffic import Requests, Traffic, lognormal

__all__ = [
    "GPU",
    "LLADA_8B",
    "Counted",
    "Linear",
    "Outcome",
    "Replica",
    "Requests",
    "Service",
    "Traffic",
    "alone",
    "capacity",
    "latencies",
    "lognormal",
    "p95",
    "simulate",
    "smallest",
]

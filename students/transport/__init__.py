"""Transport: calls to models, their cache, their limits, and the endpoints they go to."""

from students.transport.base import CallFailure, CallRequest, CallResult, Transport
from students.transport.cache import CallCache, Tags
from students.transport.calls import Calls
from students.transport.endpoint import EndpointTransport
from students.transport.export import export_cache
from students.transport.hosted import HostedTransport
from students.transport.limiter import Limiter, Limiters, Rate
from students.transport.planted import Planted, PlantedTransport
from students.transport.price import Price, price_of
from students.transport.replay import RecordedAnswers, ReplayTransport
from students.transport.retry import Retry
from students.transport.simulated import SimulatedTransport
from students.transport.spend import LimitError, Limits, Spend
from students.transport.upkeep import CacheStats, Flaw, Pruned, cache_stats, prune_cache, verify_cache

__all__ = [
    "CacheStats",
    "CallCache",
    "CallFailure",
    "CallRequest",
    "CallResult",
    "Calls",
    "EndpointTransport",
    "Flaw",
    "HostedTransport",
    "LimitError",
    "Limiter",
    "Limiters",
    "Limits",
    "Planted",
    "PlantedTransport",
    "Price",
    "Pruned",
    "Rate",
    "RecordedAnswers",
    "ReplayTransport",
    "Retry",
    "SimulatedTransport",
    "Spend",
    "Tags",
    "Transport",
    "cache_stats",
    "export_cache",
    "price_of",
    "prune_cache",
    "verify_cache",
]

"""Transport: calls to models, their cache, their limits, and the endpoints they go to."""

from students.transport.base import CallFailure, CallRequest, CallResult, Transport
from students.transport.cache import CallCache, Tags
from students.transport.calls import Calls, Retry
from students.transport.endpoint import EndpointTransport
from students.transport.hosted import HostedTransport
from students.transport.price import Price, price_of
from students.transport.simulated import SimulatedTransport
from students.transport.spend import Limits, Spend

__all__ = [
    "CallCache",
    "CallFailure",
    "CallRequest",
    "CallResult",
    "Calls",
    "EndpointTransport",
    "HostedTransport",
    "Limits",
    "Price",
    "Retry",
    "SimulatedTransport",
    "Spend",
    "Tags",
    "Transport",
    "price_of",
]

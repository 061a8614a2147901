"""When a call that failed is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retry:
    """Tries of one call, and the wait before the second in seconds; each further wait doubles, with jitter.

    Args:
        tries: most tries that fail for another reason than too many requests.
        throttled: most tries that the endpoint turns away for too many requests, which cost nothing.
        wait_s: longest wait before the second try.
        longest_s: longest wait before any further one, unless the endpoint asks for more.
        patience_s: longest wait that an endpoint may ask for; where it asks for more, the campaign stops.
    """

    tries: int = 5
    throttled: int = 12
    wait_s: float = 0.5
    longest_s: float = 60.0
    patience_s: float = 900.0

    def pause(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after failed try number ``attempt`` (from 1), at least what the endpoint asked for.

        Half of the backoff is drawn at random, so that calls which failed together do not come back together.
        """
        backoff: float = min(self.wait_s * 2 ** (attempt - 1), self.longest_s)
        return (asked or 0.0) + backoff * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not cryptography

    def spent(self, failed: int, throttled: int) -> bool:
        """Whether there is no further try after so many that failed and so many that were turned away."""
        return failed >= self.tries or throttled >= self.throttled

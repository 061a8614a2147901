"""Following one worker of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from optimize.sweep.pruning import Halving
from optimize.sweep.space import Label
from students import Progress


class Follower(Protocol):
    """Follows a worker."""

    def begun(self, number: int, of: int, parameters: Mapping[str, Label], attempts: int) -> None:
        """A trial begins, or is taken up again."""
        ...

    def judged(self, progress: Progress) -> None:
        """An evaluation of it has come further."""
        ...

    def halved(self, halving: Halving) -> None:
        """It was judged on a set of accept groups."""
        ...

    def ended(self, number: int, outcome: Mapping[str, Any]) -> None:
        """It came to an outcome, given as its row."""
        ...

    def waiting(self, numbers: tuple[int, ...]) -> None:
        """Only trials of other workers are left."""
        ...


class Unfollowed:
    """A follower that looks away."""

    def begun(self, number: int, of: int, parameters: Mapping[str, Label], attempts: int) -> None:
        """Look away."""

    def judged(self, progress: Progress) -> None:
        """Look away."""

    def halved(self, halving: Halving) -> None:
        """Look away."""

    def ended(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Look away."""

    def waiting(self, numbers: tuple[int, ...]) -> None:
        """Look away."""

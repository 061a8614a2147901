"""Following a run from outside: its ledger, who runs it, what it has paid for, and its search on the screen."""

from experiments.watch.following import Ended, follow
from experiments.watch.limits import limits_of
from experiments.watch.snapshot import Follower, Snapshot
from experiments.watch.tail import LedgerTail

__all__ = ["Ended", "Follower", "LedgerTail", "Snapshot", "follow", "limits_of"]

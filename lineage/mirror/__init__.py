"""The MLflow mirror: a campaign as a parent run, every candidate as a child run with its whole text.

The ledger stays the record; the mirror is a view of it for MLflow's own tools, and can be made again from the ledger at
any time (:func:`sync`). Nothing here uses MLflow's global state: no active run, no global tracking address. MLflow is
loaded only when there is something to mirror.
"""

from lineage.mirror.following import MlflowMirror, sync
from lineage.mirror.process import MirrorProcess
from lineage.mirror.store import MirrorError

__all__ = ["MirrorError", "MirrorProcess", "MlflowMirror", "sync"]

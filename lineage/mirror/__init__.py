"""The MLflow mirror: a campaign as a parent run, every candidate as a child run with its whole text.

The ledger stays the record; the mirror is a view of it for MLflow's own tools, and can be made again from the ledger at
any time (:func:`sync_directory`). Running campaigns are mirrored from a process of its own (:class:`MirrorProcess`);
judging runs, studies, crossed experiments and measurements of noise when they have ended. What lies where is stated in
:mod:`lineage.mirror.layout`. Nothing here uses MLflow's global state: no active run, no global tracking address. MLflow
is loaded only when there is something to mirror.
"""

from lineage.mirror.following import MlflowMirror, sync
from lineage.mirror.process import MirrorProcess
from lineage.mirror.store import MirrorError
from lineage.mirror.study import sync_directory

__all__ = ["MirrorError", "MirrorProcess", "MlflowMirror", "sync", "sync_directory"]

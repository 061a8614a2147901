"""A study: one worker's part of it, which any number of others may share, and which can be killed at any time."""

from __future__ import annotations

import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NoReturn

from lineage.errors import LedgerError, PlanError, SealError
from lineage.ledger import Ledger
from lineage.records import VOLATILE
from optimize.registering import environment
from optimize.sweep.calls import StoredAnswers, StudyCache
from optimize.sweep.data import StudyData
from optimize.sweep.following import Follower, Unfollowed
from optimize.sweep.inputs import StudyInputs, fingerprint
from optimize.sweep.storage import StudyStorage
from optimize.sweep.trials import Heartbeat, register_study
from optimize.sweep.worker import Worker, held
from splits.corpus import Corpus
from splits.lock import SplitLock

GRACE_S: Final = 60.0
"""Seconds without a sign of life after which another worker counts as dead."""
POLL_S: Final = 0.2
WORKERS: Final = "workers"
"""Folder of a study's directory with the ledgers of its workers on this machine."""


class Study:
    """One worker of a study.

    Args:
        inputs: what the study is about.
        corpus: the whole corpus; only its reflect and accept parts are kept.
        lock: its split lock.
        directory: the study's directory on this machine; workers on it share it.
        storage: address of the database; by default ``study.sqlite`` in the directory.
        cache: path of the call cache; by default beside the directory, where the campaign that confirms finds it.
        follower: follows this worker.
        grace_s: seconds without a sign of life after which another worker counts as dead.

    Raises:
        PlanError: study, corpus and lock do not fit together, or the directory or the database holds another study.
    """

    def __init__(
        self,
        inputs: StudyInputs,
        corpus: Corpus,
        lock: SplitLock,
        directory: Path,
        *,
        storage: str | None = None,
        cache: Path | None = None,
        follower: Follower | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self.inputs, self.directory = inputs, directory
        self._corpus, self._lock = corpus, lock
        self._address = storage or default_storage(directory)
        self._cache_path = cache or directory.parent / "calls.sqlite"
        self._follower, self._grace_s = follower or Unfollowed(), grace_s
        self.fingerprint = fingerprint(inputs, corpus, lock)

    def __reduce__(self) -> NoReturn:
        raise SealError("a study cannot be pickled or copied: it holds the corpus, held-out text with it")

    def work(self) -> None:
        """Run trials until the study has all of them, those that other workers die on among them.

        Raises:
            HoldgateError: with what stopped this worker; everything paid for is kept.
        """
        plan, of = self.inputs.plan, self.inputs.trials
        with ExitStack() as stack:
            ledger = stack.enter_context(self._worker_ledger())
            storage = StudyStorage(self._address, plan.name)
            stack.callback(storage.close)
            if not register_study(storage, self.fingerprint):
                raise PlanError(
                    f"{storage.words} holds another study named {plan.name!r} (other space, base, corpus or lock); "
                    "give this one another name, or another --storage"
                )
            # Workers on a database that was named may have other directories, and so another call cache each.
            apart = storage.shared or self._address != default_storage(self.directory)
            answers = StoredAnswers(storage) if apart else None
            worker = Worker(
                self.inputs,
                StudyData.of(self._corpus, self._lock, ledger),
                self.directory,
                identity=self.fingerprint,
                ledger=ledger,
                storage=storage,
                cache=stack.enter_context(StudyCache(self._cache_path, answers=answers)),
                follower=self._follower,
                grace_s=self._grace_s,
            )
            stack.enter_context(Heartbeat(worker.book, every_s=self._grace_s / 4))
            worker.spend.inherit()
            while (left := worker.step(of)) is not None:
                if left:
                    self._follower.waiting(left)
                    time.sleep(POLL_S)

    def _worker_ledger(self) -> Ledger:
        """The ledger of the first worker's place in the directory that no process holds."""
        place = 1
        while held(self.directory / WORKERS / f"{place:02d}"):
            place += 1
        path = self.directory / WORKERS / f"{place:02d}" / "ledger.jsonl"
        ledger = Ledger(path)
        try:
            self._begin(ledger)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _begin(self, ledger: Ledger) -> None:
        inputs = self.inputs
        body = {
            "study": inputs.plan.name,
            "fingerprint": self.fingerprint,
            "plan": inputs.plan.row(),
            "base": inputs.base.plan.row(),
            "corpus_hash": self._corpus.hash,
            "lock_hash": self._lock.hash,
        }
        try:
            ledger.perform("study", body, lambda: {VOLATILE: {**environment(), "worker": uuid.uuid4().hex}})
        except LedgerError as error:
            raise PlanError(
                f"{self.directory} holds another study ({error}); give another --out, or restore what was changed"
            ) from error
        for event in [event for event in ledger.events[1:] if event.type in ("begun", "trial")]:
            ledger.perform(event.type, event.body, dict)  # what this worker did before


def default_storage(directory: Path) -> str:
    """Address of the database where none is given."""
    return f"sqlite:///{directory.absolute() / 'study.sqlite'}"

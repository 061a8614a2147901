"""An experiment's directory read back: its events, its cells, and its result computed again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.audit.record import RunRecord
from lineage.canonical import json_lines
from lineage.errors import HoldgateError, LedgerError
from lineage.ledger import Event, _read
from lineage.openings import exploratory_reason
from optimize.crossing.reading import Family
from optimize.crossing.result import result_row
from optimize.crossing.targets import SEED, Cell, targets
from optimize.evaluation import Evaluation
from optimize.recompute import RecordedRun
from splits.corpus import Example
from splits.lock_file import parse_lock


@dataclass(frozen=True, slots=True)
class RecordedExperiment:
    """An experiment's directory read back.

    Attributes:
        run: its ledger, examples and lock.
        body: body of the first event: plan, hashes, marks.
    """

    run: RecordedRun
    body: Mapping[str, Any]

    @property
    def experiment(self) -> Mapping[str, Any]:
        """The plan, with the base campaign's in it."""
        found: Mapping[str, Any] = self.body["experiment"]
        return found

    @property
    def settings(self) -> dict[str, str]:
        """Student hash by setting."""
        return {event.body["setting"]: event.body["student"] for event in self.run.all("setting")}

    @property
    def winners(self) -> dict[str, str]:
        """Candidate id by prompt, the seed among them."""
        seed = self.run.all("candidate")[0].body["candidate"]
        return {SEED: seed, **{event.body["setting"]: event.body["winner"] for event in self.run.all("searched")}}

    def cells(self, purpose: str) -> dict[Cell, Evaluation]:
        """Evaluations for a purpose by cell."""
        of_student = {student: setting for setting, student in self.settings.items()}
        found = {}
        for event in self.run.all("evaluation"):
            if event.body["purpose"] == purpose:
                for evaluation in self.run.evaluations(event):
                    for prompt, candidate in self.winners.items():
                        if candidate == evaluation.candidate:
                            found[Cell(prompt, of_student[event.body["student"]])] = evaluation
        return found

    def result(self) -> dict[str, Any]:
        """The result, computed again from the judgements."""
        plan, lock = self.experiment, self.run.lock
        wanted = targets(plan["order"], plan["compared"])
        opened = {e.body["target"]: e.body["comparison"] for e in self._opened("confirm")}
        return result_row(
            wanted,
            self.cells("confirm"),
            self.winners,
            family=Family(len(wanted), lock.spend, plan["campaign"]["gate"]["coverage"]),
            facts={
                "name": plan["name"],
                "plan_hash": self.body["plan_hash"],
                "lock_hash": self.body["lock_hash"],
                "corpus_hash": self.body["corpus_hash"],
                "simulated": self.body["simulated"],
                "exploratory": exploratory_reason(self.run.events),
                "groups": len(lock.splits["heldout"]),
                "places": {t.name: (opened.get(t.name) or {"k": None})["k"] for t in wanted},
            },
        )

    def _opened(self, opening: str) -> list[Event]:
        return [event for event in self.run.all("seal_opened") if event.body["opening"] == opening]


def load_experiment(directory: Path) -> RecordedExperiment:
    """Read an experiment's directory.

    Raises:
        LedgerError: its ledger is damaged or is not an experiment's, or a file that it needs is missing.
    """
    events, _ = _read(directory / "ledger.jsonl")
    steps = RunRecord(directory, events).steps
    if not steps or steps[0].type != "experiment":
        raise LedgerError(f"{directory}: holds no experiment; holdgate audit is for the run directory of a campaign")
    try:
        rows = json_lines((directory / "examples.jsonl").read_text(encoding="utf-8"))
        kept = [{key: value for key, value in row.items() if key != "split"} for row in rows]
        examples = {row["id"]: Example(source="", document="", **row) for row in kept}
        lock = parse_lock(json.loads((directory / "split.lock.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, HoldgateError) as error:
        raise LedgerError(
            f"{directory}: examples.jsonl or split.lock.json is missing or damaged ({error!r})"
        ) from error
    return RecordedExperiment(RecordedRun(directory, steps, examples, lock), steps[0].body)

"""Two judges on identical examples: the same corpus, examples and replicates, or a refusal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lineage.canonical import digest
from lineage.errors import InputError
from optimize.evaluation import Evaluation
from optimize.judging.recorded import RecordedJudging, load_judging
from optimize.judging.table import Judged


@dataclass(frozen=True, slots=True)
class Side:
    """One of two judges that are compared.

    Args:
        run: the run that it judged in.
        judged: its evaluation.
    """

    run: RecordedJudging
    judged: Judged

    @property
    def name(self) -> str:
        """Its name in its run, after which the run's directory."""
        return f"{self.judged.judge['name']} ({self.run.directory.name})"

    def row(self) -> dict[str, Any]:
        """The JSON form."""
        judge, about = self.judged.judge, self.run.registered["about"]
        rule = judge["rule"]
        return {
            "run": str(self.run.directory),
            "head": self.run.events[-1].hash,
            "judge": judge["name"],
            "design": judge["design"],
            "samples": judge["samples"],
            "rule": None if rule is None else rule["rule"],
            "simulated": judge["name"] in about["simulated"],
            "exploratory": about["exploratory"],
        }


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two evaluations of the same examples in the same replicates.

    Attributes:
        first: of A.
        second: of B.
        left_out: examples of A and of B that the other did not judge.
    """

    first: Evaluation
    second: Evaluation
    left_out: tuple[int, int] = (0, 0)

    def row(self) -> dict[str, Any]:
        """What was compared, as JSON."""
        examples = self.first.examples
        names = [example.id for example in examples]
        return {
            "count": len(names),
            "hash": digest(names),
            "groups": len({example.group for example in examples}),
            "by_label": dict(sorted(Counter(example.label for example in examples).items())),
            "replicates": len(self.first.replicates),
            "left_out": list(self.left_out),
        }


def find_side(name: str) -> Side:
    """A judge of a run: ``RUN:student``, ``RUN:student@budget``, or ``RUN`` where it has one judge with a model.

    Raises:
        InputError: there is no such run or judge, or the run has several and none is named.
        LedgerError: the run is damaged.
    """
    path, _, judge = name.rpartition(":") if ":" in name and not Path(name).is_dir() else (name, "", "")
    run = load_judging(Path(path))
    if judge:
        return Side(run, run.judged(judge))
    named = [one["name"] for one in run.registered["judges"] if not one["family"].startswith("without")]
    if len(named) != 1:
        raise InputError(f"{path} has {len(named)} judges; name one of them, as in {path}:{run.judges[0]}")
    return Side(run, run.judged(named[0]))


def aligned(first: Side, second: Side, *, common: bool = False) -> Aligned:
    """The evaluations of two judges, if they are of the same examples and replicates.

    Args:
        first: A.
        second: B.
        common: whether to compare what both judged, where they did not judge the same.

    Raises:
        InputError: they are the same judge, of different corpora, or of different examples or replicates.
    """
    if (first.run.directory.resolve(), first.judged.judge["name"]) == (
        second.run.directory.resolve(),
        second.judged.judge["name"],
    ):
        raise InputError("A and B are the same judge of the same run; name another")
    if first.run.corpus_hash != second.run.corpus_hash:
        raise InputError(
            f"{first.name} and {second.name} judged different corpora ({first.run.corpus_hash[:12]}… and "
            f"{second.run.corpus_hash[:12]}…): the same id may stand for another text; judge one corpus with both"
        )
    ours, theirs = first.judged.evaluation, second.judged.evaluation
    names, others = ({example.id for example in one.examples} for one in (ours, theirs))
    same = names == others and ours.replicates == theirs.replicates
    if same:
        return Aligned(ours, theirs)
    if not common:
        raise InputError(
            f"{first.name} and {second.name} did not judge the same: {len(names - others)} examples are only in the "
            f"first, {len(others - names)} only in the second, replicates are {list(ours.replicates)} and "
            f"{list(theirs.replicates)}; give --common to compare the common part"
        )
    kept, replicates = names & others, set(ours.replicates) & set(theirs.replicates)
    if not kept or not replicates:
        raise InputError(f"{first.name} and {second.name} have no example and replicate in common")
    return Aligned(
        _part(ours, kept, replicates), _part(theirs, kept, replicates), (len(names - others), len(others - names))
    )


def _part(evaluation: Evaluation, names: set[str], replicates: set[int]) -> Evaluation:
    return replace(
        evaluation,
        examples=tuple(example for example in evaluation.examples if example.id in names),
        judgements=tuple(j for j in evaluation.judgements if j.example in names and j.replicate in replicates),
    )

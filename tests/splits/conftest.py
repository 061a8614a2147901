"""Corpora of any shape, and what a campaign needs to open the seal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from lineage.ledger import Ledger
from splits.corpus import Corpus, Example, Fact, Residual
from splits.draft import plan_lock
from splits.lock import SplitLock
from splits.lock_file import commit_lock, load_lock

MARKER = "zq{group}marker"


def _group(group: str, stratum: str, flaws: Sequence[str]) -> list[Example]:
    clean = f"{group}.clean"
    marker = MARKER.format(group=group)

    def example(name: str, label: str, kind: str, trace: str | None = None) -> Example:
        return Example(
            id=f"{group}.{name}",
            group=group,
            stratum=stratum,
            source=f"Source {marker} of the naïve group {group}, which says one thing after another at some length.",
            document=f"PLAN\nThe {name} document {marker} of {group}.",
            label=label,
            kind=kind,
            severity=None if label == "clean" else "critical",
            trace=trace,
            twin=None if label == "clean" else clean,
            fact="f1" if label == "omission" else None,
            residual=(Residual(5, "PLAN", "partial"),) if trace == "partial-weak" else (),
        )

    made = [example("clean", "clean", "clean")]
    for flaw in flaws:
        if flaw in ("add", "change"):
            made.append(example(flaw, "commission", flaw))
        else:
            made.append(example(flaw, "omission", "omit", None if flaw == "omit" else flaw))
    return made


@pytest.fixture(scope="session")
def grow() -> Callable[..., Corpus]:
    """Make a corpus from the number of groups in each stratum; each text holds a marker of its group."""

    def grown(
        strata: Sequence[int],
        flaws: Callable[[int], Sequence[str]] = lambda _: ("complete", "add"),
    ) -> Corpus:
        examples: list[Example] = []
        facts: dict[str, tuple[Fact, ...]] = {}
        for stratum, size in enumerate(strata):
            for _ in range(size):
                group = f"g{len(facts):03}"
                examples += _group(group, f"s{stratum}", flaws(len(facts)))
                facts[group] = (Fact("f1", group, f"A fact of {group}.", ("one thing",), "critical", True),)
        return Corpus(tuple(examples), facts)

    return grown


@pytest.fixture(scope="session")
def corpus(grow: Callable[..., Corpus]) -> Corpus:
    """Twelve groups in three strata."""
    return grow([4, 4, 4])


SIZES: Mapping[str, int] = {"reflect": 3, "accept": 3, "heldout": 6}


@pytest.fixture
def lock(corpus: Corpus, tmp_path: Path) -> SplitLock:
    """A committed lock with one confirmatory comparison."""
    path = tmp_path / "split.lock.json"
    commit_lock(plan_lock(corpus, sizes=SIZES, seed=7), path)
    return load_lock(path, corpus)


@pytest.fixture
def open_ledger(tmp_path: Path) -> Callable[[str], Ledger]:
    """Open, or resume, the ledger of a campaign by the name of its run directory; its plan is recorded."""
    held: list[Ledger] = []

    def opened(name: str) -> Ledger:
        ledger = Ledger(tmp_path / name / "ledger.jsonl")
        held.append(ledger)
        ledger.perform("plan", {"name": name}, dict)
        return ledger

    yield opened  # type: ignore[misc]  # pytest reads the generator
    for ledger in held:
        ledger.close()

"""What splitting a large corpus costs: check, plan, commit and verify, in one process, by seconds and memory.

The corpus is made up of words drawn at random: it is simulated, has the shape of a corpus and nothing of its language.
Every step is taken as its command takes it, reading the corpus anew. The search for near-duplicates, which a check
makes unless it is told not to, is a step of its own and not counted in the sum.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from lineage.canonical import canonical_json
from splits import Corpus, Exclusion, Selection, SplitLock, commit_lock, load_corpus, load_lock, plan_lock
from splits.checking import check_corpus
from splits.near_duplicates import near_duplicate_groups

GROUPS: Final = 10_000
PER_GROUP: Final = 10
WANTED_S: Final = 20.0
WANTED_MIB: Final = 2_048
STRATA: Final = 12
FLAWS: Final = ("complete", "partial-weak", "partial-strong", "add", "change")
VOCABULARY: Final = 20_000
SOURCE_WORDS: Final = 220
NOTE_WORDS: Final = 120


@dataclass(frozen=True, slots=True)
class Step:
    """One step."""

    name: str
    wall_s: float
    cpu_s: float
    peak_mib: float

    def cells(self) -> tuple[str, str, str, str]:
        """Its row of the table."""
        return self.name, f"{self.wall_s:.2f}", f"{self.cpu_s:.2f}", f"{self.peak_mib:,.0f}"


@dataclass(slots=True)
class Steps:
    """Wall and CPU seconds of each step, and the most memory that the process held by its end, in MiB."""

    rows: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self.rows.append(Step(name, time.perf_counter() - wall, time.process_time() - cpu, peak))

    def together(self) -> Step:
        """All steps as one."""
        wall, cpu = sum(row.wall_s for row in self.rows), sum(row.cpu_s for row in self.rows)
        return Step("together", wall, cpu, max(row.peak_mib for row in self.rows))


def write_simulated(directory: Path, *, groups: int, per_group: int, seed: int = 0) -> tuple[Path, Path]:
    """Write a simulated corpus and its facts: one clean note a group, and flawed ones with some words left out."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(VOCABULARY)])
    corpus, facts = directory / "corpus.jsonl", directory / "facts.jsonl"
    with corpus.open("w", encoding="utf-8") as notes, facts.open("w", encoding="utf-8") as listed:
        for number in range(groups):
            group = f"g{number:05}"
            source = " ".join(words[rng.integers(0, VOCABULARY, SOURCE_WORDS)])
            said = words[rng.integers(0, VOCABULARY, NOTE_WORDS)]
            for row in _rows(group, f"stratum-{number % STRATA}", source, said, per_group, int(rng.integers(0, 5))):
                notes.write(canonical_json(row) + "\n")
            fact = {"id": "f1", "group": group, "fact": " ".join(said[:8]), "evidence": [], "severity": "critical"}
            listed.write(canonical_json({**fact, "core": True}) + "\n")
    return corpus, facts


def _rows(group: str, stratum: str, source: str, said: Any, count: int, first: int) -> Iterator[dict[str, Any]]:
    shared = {"group": group, "stratum": stratum, "source": source}
    yield {"id": f"{group}.0", **shared, "document": " ".join(said), "label": "clean"}
    for number in range(1, count):
        flaw = FLAWS[(first + number) % len(FLAWS)]
        document = " ".join(np.delete(said, slice(7 * number, 7 * number + 5)))
        flawed = {"id": f"{group}.{number}", **shared, "document": document, "twin": f"{group}.0"}
        if flaw in ("add", "change"):
            yield {**flawed, "label": "commission", "kind": flaw, "severity": "supporting"}
        else:
            yield {**flawed, "label": "omission", "trace": flaw, "severity": "critical", "fact": "f1"}


def take(directory: Path, corpus: Path, facts: Path) -> tuple[Steps, Corpus, SplitLock]:
    """Every step on a corpus file, with its richest options; the lock that was committed and verified."""
    steps, path = Steps(), directory / "split.lock.json"
    with steps.step("check: every rule of every row"):
        assert check_corpus(corpus, facts=facts, threshold=None).hash
    with steps.step("split: read and plan"):
        found = load_corpus(corpus, facts=facts)
        excluded = Exclusion(groups=tuple(sorted(found.groups)[:50]))
        planned = plan_lock(
            found,
            sizes={"reflect": 0.4, "accept": 0.2, "heldout": 0.4},
            seed=1,
            selection=Selection(seed=1),
            stratify=("stratum", "kinds", "rare-traces"),
            exclusions={"earlier": excluded},
        )
    with steps.step("commit"):
        commit_lock(planned, path)
    with steps.step("verify: read and check"):
        found = load_corpus(corpus, facts=facts)
        lock = load_lock(path, found)
    return steps, found, lock


def report(console: Console, steps: Steps, *, apart: Steps | None, lock: Path) -> None:
    """The table of all steps."""
    title = "SIMULATED corpus: words drawn at random"
    table = Table("step", "seconds", "CPU s", "peak MiB", title=title, title_justify="left")
    for row in steps.rows:
        table.add_row(*row.cells())
    table.add_section()
    table.add_row(*steps.together().cells())
    table.add_row("wanted, at most", f"{WANTED_S:g}", "", f"{WANTED_MIB:,}")
    if apart is not None:
        table.add_section()
        for row in apart.rows:
            table.add_row(*row.cells())
    console.print(table)
    console.print(f"lock file: {lock.stat().st_size / 1024:,.0f} KiB", highlight=False)


def main() -> None:
    """Make the corpus, take the steps, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--per-group", type=int, default=PER_GROUP)
    parser.add_argument("--near-duplicates", action="store_true", help="measure the search for near-duplicates too")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        corpus, facts = write_simulated(directory, groups=options.groups, per_group=options.per_group)
        size = corpus.stat().st_size / 2**20
        steps, found, lock = take(directory, corpus, facts)
        apart: Steps | None = None
        if options.near_duplicates:
            apart = Steps()
            with apart.step("apart: near-duplicate groups"):
                near_duplicate_groups(found)
        if options.json:
            rows = [asdict(row) for row in (*steps.rows, steps.together())]
            sys.stdout.write(json.dumps(rows) + "\n")
            return
        console.print(
            f"{len(found.groups):,} groups, {len(found.examples):,} examples, {size:,.0f} MiB of JSON lines; "
            f"{lock.describe()}",
            highlight=False,
        )
        report(console, steps, apart=apart, lock=directory / "split.lock.json")


if __name__ == "__main__":
    main()

"""Fact sheets of OmissionBench: what a complete note of a consultation must contain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from splits.adapters.imported import Notices
from splits.adapters.upstream import Record
from splits.json_lines import read_json
from splits.rows import Row


@dataclass(frozen=True, slots=True)
class FactSheet:
    """The facts that one consultation's note must contain, in upstream's order, which pairs refer to."""

    group: str
    items: tuple[Record, ...]

    def rows(self, graded: Mapping[str, str]) -> Iterator[Row]:
        """Rows of the facts; ``graded`` has upstream's severity of those that a pair omits, by ``GROUP|mcN``."""
        for place, item in enumerate(self.items):
            name = f"mc{place}"
            weight = item.one_of("load_bearing", ("high", "medium")) if "load_bearing" in item.values else None
            scope = item.one_of("scope", ("core", "contextual")) if "scope" in item.values else None
            ours = "peripheral" if scope == "contextual" else "critical" if weight == "high" else "supporting"
            yield item.row(
                id=name,
                group=self.group,
                fact=item.text("fact"),
                evidence=[item.text("evidence")] if item.values.get("evidence") else [],
                severity=graded.get(f"{self.group}|{name}", ours),
                core=weight != "medium" if scope is None else scope == "core",
            )


def read_sheets(root: Path, groups: Mapping[str, Record], notices: Notices) -> dict[str, FactSheet]:
    """The fact sheets of the given groups, by group; a group without one is noted.

    Args:
        root: folder in which ``fact_sheets`` stands.
        groups: the groups of the corpus, with a record of each.
        notices: where to note groups and sheets that find no partner.

    Raises:
        CorpusError: a sheet is broken, or two are for one group; with its place.
    """
    found: dict[str, FactSheet] = {}
    folder = root / "fact_sheets"
    for path in sorted(folder.rglob("*.json")) if folder.is_dir() else ():
        stratum = path.stem.removeprefix("fact_sheets_") if path.parent == folder else path.parent.name
        for sheet in _sheets(path):
            name = sheet.text("id") if "id" in sheet.values else path.stem
            group = f"{stratum}|{name}"
            if group not in groups:
                notices.add("left out", "fact sheet of a consultation without a pair", group)
                continue
            if group in found:
                raise sheet.refuse(f"there are two fact sheets for {group!r}; keep one", field="id")
            facts = sheet.record("fact_sheet") if "fact_sheet" in sheet.values else sheet
            found[group] = FactSheet(group, tuple(_items(facts)))
    for group in groups:
        if group not in found:
            notices.add("noted", "consultation without a fact sheet, so without facts", group)
    return found


def _sheets(path: Path) -> list[Record]:
    whole = read_json(path, "fact sheets")
    if isinstance(whole, dict):
        return [Record(whole, str(path))]
    return Record({"sheets": whole}, str(path)).records("sheets")


def _items(facts: Record) -> list[Record]:
    """The items of a sheet; one may be a bare text."""
    given = facts.get("must_contain")
    if isinstance(given, list):
        given = [{"fact": item} if isinstance(item, str) else item for item in given]
    return replace(facts, values={"must_contain": given}).records("must_contain")

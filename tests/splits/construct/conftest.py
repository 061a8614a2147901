"""Consultations made from a marked note, and the bundled ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from splits.bundled import bundled_directory
from splits.construct import ConsultationSource, FactSource, parse_note, read_sources
from splits.construct.source import Addition, Change

NOTE = """\
HISTORY
[[f1 explicit: Cough for three days.]] No fever. Smokes, [[f2 explicit: ten a day]].
PLAN
- [[f3 explicit: Amoxicillin 500 mg three times daily.]]
- [[f1 paraphrase: Cough linctus for the three-day cough.]]
- Rest, [[f2 partial: stop smoking]], and fluids.
- [[f2 paraphrase: Counselled on ten cigarettes a day.]]"""


@pytest.fixture(scope="session")
def consult() -> Callable[..., ConsultationSource]:
    """A consultation from a marked note; every fact that has a site is core."""

    def made(
        markup: str = NOTE, additions: tuple[Addition, ...] = (), changes: tuple[Change, ...] = ()
    ) -> ConsultationSource:
        note, sites = parse_note(markup)
        names = sorted({site.fact for site in sites})
        facts = tuple(FactSource(name, f"Fact {name}.", "critical", True, ("Talk.",)) for name in names)
        return ConsultationSource("c-1", "s", "Title", "Talk.", facts, note, sites, additions, changes)

    return made


@pytest.fixture(scope="session")
def bundled() -> tuple[ConsultationSource, ...]:
    return read_sources(bundled_directory("consults") / "sources")

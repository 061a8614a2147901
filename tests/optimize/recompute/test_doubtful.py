"""Arrays doubt every judgement that an exact sum finds wrong, and leave the rest alone."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage import FactVerdict, Judgement
from lineage.errors import LedgerError
from lineage.ledger import Event
from lineage.segments import write_segment
from optimize.recompute.columns import chunks
from optimize.recompute.doubtful import ROUNDED, doubtful_scores, doubtful_verdicts
from optimize.recompute.judgements import recomputed_score

P = st.floats(0, 1).map(lambda value: round(value, 6))
FACTS = st.lists(st.tuples(P, st.floats(-9, 9).map(lambda value: round(value, 6))), max_size=6)
ROWS = st.lists(st.tuples(FACTS, st.sampled_from([0.0, 0.0004, 0.0005, 0.00051, -0.0006, 0.3])), min_size=1, max_size=6)


def events(directory: Path, judged: list[Judgement]) -> list[Event]:
    """An evaluation a judgement."""
    made = []
    for number, judgement in enumerate(judged):
        segment = write_segment(directory, f"{number:04d}-accept", [judgement])
        made.append(Event(number, "", "evaluation", {"segment": segment, "candidates": ["c"]}, "", ""))
    return made


@pytest.mark.parametrize("aggregator", ["soft", "share", "margin", "minimum"])
@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_every_wrong_score_is_doubted_and_few_right_ones(aggregator: str, rows: list[tuple[list, float]]) -> None:
    student = {"shape": "per-fact", "aggregator": aggregator}
    judged, wrong, sure = [], set(), set()
    for number, (facts, shift) in enumerate(rows):
        verdicts = tuple(FactVerdict(f"f{place}", p, margin, p >= 0.5) for place, (p, margin) in enumerate(facts))
        plain = Judgement(f"e{number}", "c", "s", "scored", 0.5, facts=verdicts)
        value = recomputed_score(plain, student)
        score = round(0.5 if value is None else value, 3) + shift
        judged.append(Judgement(f"e{number}", "c", "s", "scored", score, facts=verdicts))
        if value is None or abs(value - score) > ROUNDED:
            wrong.add(number)
        elif abs(value - score) < ROUNDED - 1e-8:
            sure.add(number)
    with TemporaryDirectory() as place:
        directory = Path(place)
        (chunk,) = chunks(directory, events(directory, judged), facts=True)
        doubted = {event.seq for event in doubtful_scores(chunk, aggregator)}
    assert wrong <= doubted
    assert not doubted & sure


def test_a_judgement_without_a_score_is_not_doubted(tmp_path: Path) -> None:
    judged = [Judgement("a", "c", "s", "failed", None, reason="empty"), Judgement("b", "c", "s", "scored", 0.5)]
    (chunk,) = chunks(tmp_path, events(tmp_path, judged), facts=True)
    assert [event.seq for event in doubtful_scores(chunk, "soft")] == [1]


@settings(max_examples=40, deadline=None)
@given(ps=st.lists(P, min_size=1, max_size=5), flipped=st.integers(0, 4), threshold=st.sampled_from([0.05, 0.5, 0.95]))
def test_a_verdict_against_its_threshold_is_doubted(ps: list[float], flipped: int, threshold: float) -> None:
    verdicts = [FactVerdict(f"f{place}", p, 0.0, (p >= threshold) != (place == flipped)) for place, p in enumerate(ps)]
    judged = [Judgement("a", "c", "s", "scored", 0.5), Judgement("b", "c", "s", "scored", 0.5, facts=tuple(verdicts))]
    with TemporaryDirectory() as place:
        directory = Path(place)
        (chunk,) = chunks(directory, events(directory, judged), facts=True)
        doubted = [event.seq for event in doubtful_verdicts(chunk, threshold)]
    far = flipped < len(ps) and abs(ps[flipped] - threshold) > 1e-6
    assert doubted == ([1] if far else [])


def test_a_segment_with_other_judgements_than_the_ledger_says_is_refused(tmp_path: Path) -> None:
    (event,) = events(tmp_path, [Judgement("a", "c", "s", "scored", 0.5)])
    event.body["segment"]["judgements"] = 2
    with pytest.raises(LedgerError, match="does not hold as many judgements"):
        list(chunks(tmp_path, [event]))

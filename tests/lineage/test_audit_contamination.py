"""The audit repeats what the campaign found of contamination, as warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.audit.contamination import check_contamination, overlap_words
from lineage.audit.record import RunRecord
from lineage.ledger import Event

OVERLAP = {"kind": "ngram", "split": "heldout", "groups": ["g1"], "count": 3, "words": 10, "share": None}


def run_of(*events: tuple[str, dict[str, Any]]) -> RunRecord:
    made = (Event(seq, "", kind, body, "", "") for seq, (kind, body) in enumerate(events))
    return RunRecord(Path("nowhere"), tuple(made))


def test_no_finding_is_no_warning() -> None:
    run = run_of(("contamination", {"of": "splits", "findings": []}))
    assert list(check_contamination(run)) == []
    assert list(check_contamination(run_of())) == []


def test_separated_near_duplicates_are_a_warning_with_their_groups() -> None:
    row = {"groups": ["a", "b"], "splits": ["reflect", "heldout"], "similarity": 0.71}
    (found,) = check_contamination(run_of(("contamination", {"of": "splits", "findings": [row]})))
    assert (found.severity, found.place) == ("warning", "seq 0")
    assert found.words == "reflect group a and held-out group b are near-duplicates (similarity 0.71)"
    assert "--unite near-duplicates" in found.remedy


@pytest.mark.parametrize(
    ("outcome", "remedy"), [("invalid", "was not judged"), ("accepted", "do not rely on the comparison")]
)
def test_a_contaminated_candidate_is_a_warning_whose_remedy_depends_on_its_outcome(outcome: str, remedy: str) -> None:
    body = {"of": "candidate", "candidate": "c" * 64, "iteration": 2, "findings": [OVERLAP]}
    run = run_of(("contamination", body), ("outcome", {"candidate": "c" * 64, "outcome": outcome}))
    (found,) = check_contamination(run)
    assert found.severity == "warning"
    assert found.words == (
        "candidate cccccccccccc copies 3 run(s) of words of held-out text (groups g1; longest 10 words)"
    )
    assert remedy in found.remedy


def test_a_contaminated_request_names_its_iteration() -> None:
    body = {"of": "reflection", "iteration": 4, "call": 1, "findings": [OVERLAP, OVERLAP | {"split": "accept"}]}
    found = list(check_contamination(run_of(("contamination", body))))
    assert [finding.words.startswith("the request to the reflector in iteration 4") for finding in found] == [True] * 2
    assert "of accept text" in found[1].words


def test_a_passage_says_how_much_and_many_groups_are_cut_short() -> None:
    words = overlap_words(OVERLAP | {"kind": "passage", "share": 0.625, "groups": [f"g{n}" for n in range(8)]})
    assert words == (
        "nearly repeats a passage of held-out text (groups g0, g1, g2, g3, g4 and 3 more; longest 10 words, 62% of it)"
    )

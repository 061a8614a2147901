"""An imported lineage is looked at with what was published of it, and what was not is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.imported import IMPORTED, PUBLISHED
from lineage.ledger import Ledger
from lineage.records import candidate_id

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """Three accepted candidates of one target, two of them with scores of single examples, one without its text."""
    directory = tmp_path / "imported"
    texts = [{"instruction": "Is it there?"}, {"instruction": "Is it really there?"}, {}]
    ids = [candidate_id(text) for text in texts]
    with Ledger(directory / "ledger.jsonl") as ledger:

        def add(event: str, **body: Any) -> None:
            ledger.perform(event, body, dict)

        add(IMPORTED, name="published", format="gepa", files=[], has=[], lacks=[], targets=["t"], settings={})
        for place, (candidate, text) in enumerate(zip(ids, texts, strict=True)):
            parents = ids[place - 1 : place] if place else []
            kind = "mutation" if parents else "seed"
            shared = {"candidate": candidate, "target": "t", "parents": parents, "iteration": place}
            add("candidate", **shared, name=f"p{place}", kind=kind, operator=None, texts=text, hashes={}, chars=None)
            if parents:
                add("outcome", **shared, outcome="accepted", reason="", minibatch=None)
        for candidate, scores in zip(ids, ({"a": 0.5, "b": 1.0}, {"a": 1.0, "b": 1.0}), strict=False):
            add(PUBLISHED, of="scores", candidate=candidate, target="t", split="accept", scale=1.0, scores=scores)
        add("finished", candidates=3, published=2)
    return directory


def test_leaders_are_those_with_published_scores_and_the_others_are_counted(holdgate: Run, imported: Path) -> None:
    (found,) = json.loads(holdgate("lineage", "leaders", imported, "--json")[1])
    assert (found["target"], found["examples"], found["pool"]) == ("t", 2, 2)
    assert [(one["name"], one["alone"], one["shared"]) for one in found["leaders"]] == [
        ("p1", ["a"], ["b"]),
        ("p0", [], ["b"]),
    ]
    status, said, _ = holdgate("lineage", "leaders", imported)
    assert status == 0
    title = " ".join(said.split())
    assert "t: 2 of 2 candidates of the pool lead somewhere" in title
    assert "of 1 more no scores are known" in title


def test_texts_that_were_published_are_compared_and_others_are_said_to_lack(holdgate: Run, imported: Path) -> None:
    assert "Is it {+really+} there?" in holdgate("lineage", "diff", imported, "p1")[1]
    status, _, err = holdgate("lineage", "diff", imported, "p2")
    assert (status, "the text of p2 was not published" in err) == (2, True)
    assert "text not published" in holdgate("lineage", "show", imported, "p2")[1]


def test_it_is_watched_as_what_it_is_and_not_reviewed(holdgate: Run, imported: Path) -> None:
    status, said, _ = holdgate("watch", imported, "--once")
    assert (status, said.startswith("published  finished")) == (0, True)
    status, _, err = holdgate("review", "pack", imported)
    assert (status, "is no judging run and no campaign that judged here" in err) == (2, True)

"""The published search, with its parents and minibatch means as recorded and placeholder texts, drives our engine.

How the published search drew its parents cannot be covered: the record has no score vectors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lineage import Candidate, read_events
from lineage.tree import tree_rows
from optimize.choice import choose
from optimize.engine import Front, Parents
from optimize.search import SearchResult
from optimize.search_plan import MergePlan
from splits import Corpus, Example

FILE = Path(__file__).parents[3].parent / "shared" / "omissionbench" / "v3_trajectory.jsonl"
CLEAN, OMISSIONS = 20, 48
MARGIN = 0.01

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"the published trajectory is not at {FILE}")

Row = Mapping[str, Any]


def leg(name: str) -> list[Row]:
    return [row for line in FILE.read_text(encoding="utf-8").splitlines() if (row := json.loads(line))["leg"] == name]


def text_of(row: Row) -> str:
    """A placeholder as long as the published text, which no other is equal to."""
    name = f"{row['leg']} {row['iter']} {row.get('id', 'not accepted')} "
    return (name + "x" * row["chars"])[: row["chars"]]


class Published:
    """The record as a parent sampling, a reflector and a judge of notes."""

    def __init__(self, rows: list[Row]) -> None:
        self.seeds = [row for row in rows if row["kind"] == "seed"]
        self.rows = [row for row in rows if row["kind"] != "seed"]
        self.means = iter(self._means())
        self.of_text = {text_of(row): row for row in rows}
        self.accept = notes("a", CLEAN, OMISSIONS)

    def _means(self) -> Iterator[float]:
        for row in self.rows:
            yield row["mb_parent"]
            yield row["mb_child"]

    def draw(self, front: Front, *, iteration: int, call: int) -> Parents:
        row = self.rows[iteration - 1]
        assert call == 0
        first, *rest = (int(part.removeprefix("#")) for part in row["origin"].split("+"))
        assert first == row["parent"] < len(front.means)
        return Parents(first, *rest)

    def write(self, request: Any) -> str:
        return text_of(self.rows[request.iteration - 1])

    def score(self, candidate: Candidate, example: Example, phase: str) -> float:
        """On a minibatch, scores whose rewards have the recorded mean; on accept, the recorded measures."""
        if phase == "accept":
            return self.on_accept(self.of_text[candidate.texts["instruction"]])[example.id]
        if example.label == "clean" and example.group == "r00":
            self.mean = next(self.means)
        # Half clean, half flawed: a reward of c, and of 1 where the flawed note is below its twin, of 1/4 where level.
        low = self.mean < 0.6
        clean = 2 * self.mean - (0.25 if low else 1.0)
        return clean if low or example.label == "clean" else clean - 5 * MARGIN

    def on_accept(self, row: Row) -> dict[str, float]:
        """Scores with the recorded paired discrimination and detection at 10% false alarms: in three groups of twenty
        the clean note scores so low that no threshold above it is allowed.
        """
        halves, detected = round(row["valid_paired"] * 2 * OMISSIONS), round(row["valid_det10"] * OMISSIONS)
        wins, ties = divmod(halves, 2)
        scores = {}
        place = 0
        for example in sorted(self.accept.examples, key=lambda one: (one.group in ("a17", "a18", "a19"), one.id)):
            twin = 0.3 if example.group in ("a17", "a18", "a19") else 0.9
            if example.label == "clean":
                scores[example.id] = twin
                continue
            below = 0.1 if place < detected else 0.6
            scores[example.id] = below if place < wins else twin if place < wins + ties else 1.0
            place += 1
        return scores


def notes(prefix: str, groups: int, omissions: int) -> Corpus:
    """Clean notes, and omissions dealt to them in turn."""
    names = [f"{prefix}{group:02d}" for group in range(groups)]
    clean = [Example(f"{name}.clean", name, "s", "source", f"{name} all", "clean", "clean") for name in names]
    flawed = [
        Example(
            f"{name}.omit{place}", name, "s", "source", f"without {place}", "omission", "omit", twin=f"{name}.clean"
        )
        for place in range(omissions)
        for name in [names[place % groups]]
    ]
    return Corpus((*clean, *flawed), {})


@pytest.fixture(scope="module", params=["pipeline", "mono"])
def run(request: pytest.FixtureRequest, make_lab: Callable[[str], Any]) -> tuple[Published, SearchResult, Any]:
    """A leg of the record, and what our engine made of it."""
    published, lab = Published(leg(request.param)), make_lab(request.param)
    first, *seeds = ({"instruction": text_of(row)} for row in published.seeds)
    result = lab.search(
        score=published.score,
        write=published.write,
        sampling=published,
        baseline=first,
        seeds=seeds,
        reflect=notes("r", 2, 2),
        accept=published.accept,
        margin=MARGIN,
        clean_weight=1.0,
        iterations=len(published.rows),
        minibatch_groups=2,
        merge={},
    )
    return published, result, lab


def test_the_same_proposals_are_accepted_and_rejected(run: tuple[Published, SearchResult, Any]) -> None:
    published, result, lab = run
    outcomes = [body for body in lab.events("outcome") if body["iteration"]]
    came = {"accepted": "accepted", "rejected": "rejected_minibatch"}
    assert [came[body["outcome"]] for body in outcomes] == [row["outcome"] for row in published.rows]
    for body, row in zip(outcomes, published.rows, strict=True):
        for side in ("parent", "child"):
            rewards = body[f"{side}_rewards"].values()
            assert sum(rewards) / len(rewards) == pytest.approx(row[f"mb_{side}"], abs=5e-6)
    assert (result.rejected, result.invalid) == (sum(row["outcome"] != "accepted" for row in published.rows), 0)


def test_the_pool_has_the_published_candidates_in_the_published_places(
    run: tuple[Published, SearchResult, Any],
) -> None:
    published, result, _ = run
    accepted = [*published.seeds, *(row for row in published.rows if row["outcome"] == "accepted")]
    assert [row["id"] for row in accepted] == list(range(len(result.pool)))
    assert [entry.candidate.texts["instruction"] for entry in result.pool] == [text_of(row) for row in accepted]
    assert [entry.candidate.kind for entry in result.pool] == [row["kind"] for row in accepted]


def test_every_candidate_has_the_published_parents(run: tuple[Published, SearchResult, Any]) -> None:
    published, result, lab = run
    place = {entry.candidate.id: number for number, entry in enumerate(result.pool)}
    proposed = [body for body in lab.events("candidate") if body["iteration"]]
    for body, row in zip(proposed, published.rows, strict=True):
        assert "+".join(f"#{place[parent]}" for parent in body["parents"]) == row["origin"]
    rows = tree_rows(read_events(lab.directory / "ledger.jsonl"))
    by_seq = {row.seq: row for row in rows}
    assert all([by_seq[seq].candidate for seq in row.parent_seqs] for row in rows if row.parents)
    merged = [row for row in rows if row.kind == "merge"]
    assert [len(row.parents) for row in merged] == [2] * len(merged)


def test_the_published_merges_are_within_the_default_plan_s_rule(run: tuple[Published, SearchResult, Any]) -> None:
    published, _, lab = run
    rule, pool, merges = MergePlan(), len(published.seeds), 0
    for row, body in zip(published.rows, lab.events("reflection"), strict=True):
        if row["kind"] == "merge":
            merges += 1
            assert pool >= rule.from_candidates
            assert len(body["others"]) == 1
        pool += row["outcome"] == "accepted"
    assert 0 < merges <= rule.at_most
    asked = [request for request in lab.reflector.requests if request.others]
    assert len(asked) == merges
    assert all(len(request.others) == 1 and request.parent != request.others[0] for request in asked)


def test_our_rule_chooses_the_published_winner(run: tuple[Published, SearchResult, Any]) -> None:
    published, result, _ = run
    recorded = [row for row in (*published.seeds, *published.rows) if "valid_paired" in row]
    winner, ranked = choose(result.pool)
    best = max(recorded, key=lambda row: (row["valid_paired"], row["valid_det10"], -row["chars"], -row["id"]))
    assert result.pool.index(winner.entry) == best["id"]
    for place in ranked:
        row = recorded[result.pool.index(place.entry)]
        assert place.paired.value == pytest.approx(row["valid_paired"])
        assert place.detection.detection == pytest.approx(row["valid_det10"])


def test_a_search_run_through_again_asks_nobody_anything(run: tuple[Published, SearchResult, Any]) -> None:
    published, result, lab = run

    def nobody(*_: Any) -> Any:
        raise AssertionError("everything is in the ledger")

    again = lab.search(
        score=nobody,
        write=nobody,
        sampling=published,
        baseline={"instruction": text_of(published.seeds[0])},
        seeds=[{"instruction": text_of(row)} for row in published.seeds[1:]],
        reflect=notes("r", 2, 2),
        accept=published.accept,
        margin=MARGIN,
        clean_weight=1.0,
        iterations=len(published.rows),
        minibatch_groups=2,
        merge={},
    )
    assert [entry.candidate for entry in again.pool] == [entry.candidate for entry in result.pool]
    assert lab.judges.judged == []

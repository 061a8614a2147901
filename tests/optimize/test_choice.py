from __future__ import annotations

from lineage import Candidate, Judgement
from optimize.choice import choose
from optimize.evaluation import Evaluation
from optimize.search import PoolEntry, SearchResult
from splits import Example

EXAMPLES = tuple(
    Example(
        f"g{group}.{kind}", f"g{group}", "s", "", "", label, kind, twin=None if label == "clean" else f"g{group}.clean"
    )
    for group in range(4)
    for label, kind in (("clean", "clean"), ("omission", "omit"))
)


def entry(text: str, omissions: list[float], *, iteration: int = 0, clean: float = 0.9) -> PoolEntry:
    candidate = Candidate({"instruction": text}, "mutation", (), iteration)
    scores = {f"g{index}.omit": score for index, score in enumerate(omissions)}
    judgements = tuple(
        Judgement(example.id, candidate.id, "s", "scored", scores.get(example.id, clean)) for example in EXAMPLES
    )
    evaluation = Evaluation(candidate.id, EXAMPLES, judgements)
    rewards = evaluation.rewards(scale=1.0, margin=0.1, clean_weight=0.25)
    return PoolEntry(candidate, evaluation, rewards, f"c{iteration:02d}")


def test_the_winner_has_the_highest_paired_discrimination() -> None:
    winner, ranked = choose([entry("seed", [0.9, 0.9, 0.5, 0.5]), entry("better", [0.9, 0.5, 0.5, 0.5], iteration=1)])
    assert winner.entry.candidate.texts["instruction"] == "better"
    assert [place.paired.value for place in ranked] == [0.875, 0.75]


def test_of_equals_the_one_with_more_detection_wins_then_the_shorter_then_the_earlier() -> None:
    level = [0.5, 0.5, 0.9, 0.9]
    detecting = entry("longer than the others by far", level, iteration=3)
    assert choose([entry("short", level), detecting])[0].entry.candidate.texts["instruction"] == "short"
    first, second = entry("abc", level, iteration=1), entry("abd", level, iteration=2)
    assert choose([second, first])[0].entry.candidate.iteration == 1
    more = entry("a text that is long but detects more", [0.5, 0.5, 0.9, 0.9], iteration=1)
    less = entry("less", [0.95, 0.5, 0.9, 0.5], iteration=1, clean=0.9)
    assert more.accept.scores(label="clean") == less.accept.scores(label="clean")


def test_the_frontier_names_every_candidate_that_leads_an_example() -> None:
    one, two = entry("one", [0.1, 0.9, 0.9, 0.9]), entry("two", [0.9, 0.1, 0.9, 0.9], iteration=1)
    frontier = SearchResult([one, two]).frontier()
    assert frontier["g0.omit"] == (one.candidate.id,)
    assert frontier["g1.omit"] == (two.candidate.id,)
    assert frontier["g2.omit"] == (one.candidate.id, two.candidate.id)


def test_a_failed_judgement_has_no_reward_and_neither_has_its_pair() -> None:
    judged = entry("seed", [0.5, 0.5, 0.5, 0.5]).accept.judgements
    failed = [
        Judgement(j.example, j.candidate, j.student, "failed", None, reason="transport")
        if j.example == "g1.clean"
        else j
        for j in judged
    ]
    rewards = Evaluation("c", EXAMPLES, tuple(failed)).rewards(scale=1.0, margin=0.1, clean_weight=0.25)
    assert set(rewards) == {example.id for example in EXAMPLES if example.group != "g1"}

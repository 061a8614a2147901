"""Two judges compared on identical examples."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lineage.errors import InputError
from optimize.evaluation import Evaluation
from optimize.judging import JudgingPlan, JudgingRun
from optimize.judging.alignment import Side, aligned, find_side
from optimize.judging.comparing import compare_judges, flags_row, overlap_row
from optimize.judging.flags import Flagging
from optimize.objectives import compare, scored_evaluation
from optimize.stats import exact_mcnemar, mid_p_mcnemar
from splits import Corpus
from splits.corpus import Example

MakeJudging = Callable[..., JudgingPlan]


@pytest.fixture
def sides(finished_judging: Path) -> tuple[Side, Side]:
    return find_side(f"{finished_judging}:whole"), find_side(f"{finished_judging}:facts")


def judge(plan: JudgingPlan, corpus: Corpus, out: Path) -> Side:
    JudgingRun(plan, corpus, out, texts={}).run()
    return find_side(f"{out}:{plan.students[0].name}")


def test_the_difference_is_that_of_the_grouped_comparison(sides: tuple[Side, Side]) -> None:
    found = compare_judges(*sides)
    ours, theirs = (side.judged.evaluation.pairs("omission") for side in sides)
    expected = compare(ours, theirs, rng=np.random.default_rng(0))
    row = found["paired"]["omission"]
    assert row["difference"] == expected.difference.value
    assert (row["low"], row["high"]) == (expected.difference.interval.low, expected.difference.interval.high)
    assert (row["a_better"], row["level_pairs"], row["b_better"]) == (expected.wins, expected.ties, expected.losses)
    assert row["groups"] == expected.n_groups
    assert (
        found["examples"]["hash"]
        == json.loads((Path(found["a"]["run"]) / "table.json").read_text())["examples"]["hash"]
    )
    assert found["words"][0].startswith("Both judged identical examples: 24 documents of 6 groups in 3 replicate(s)")


def test_the_sign_flip_test_is_two_sided_and_turns_with_the_order(sides: tuple[Side, Side]) -> None:
    there, back = compare_judges(*sides), compare_judges(*reversed(sides))
    for label in ("omission", "commission"):
        first, second = there["paired"][label], back["paired"][label]
        assert first["difference"] == pytest.approx(-second["difference"])
        assert first["sign_flip_p"] == second["sign_flip_p"]


def test_flags_are_not_compared_without_a_rule_and_are_by_swept_thresholds_where_asked(
    sides: tuple[Side, Side],
) -> None:
    own = compare_judges(*sides, union=True)
    assert own["flags"]["reason"] == "whole has no rule of its own"
    assert own["union"]["reason"] == "whole has no rule of its own"
    assert any(words.endswith("give --swept for thresholds swept on these documents.") for words in own["words"])
    swept = compare_judges(*sides, flags_by="swept", union=True)
    flawed = swept["flags"]["flawed"]
    assert flawed["both"] + flawed["only_a"] + flawed["only_b"] + flawed["neither"] == flawed["documents"] == 18
    assert flawed["mcnemar_p"] == exact_mcnemar(flawed["only_a"], flawed["only_b"]).p
    assert flawed["mid_p"] == mid_p_mcnemar(flawed["only_a"], flawed["only_b"]).p
    assert flawed["a"] == (flawed["both"] + flawed["only_a"]) / 18
    overlap = swept["flags"]["overlap"]
    kinds = [overlap[name] for name in ("add", "change", "omit") if name in overlap]
    assert sum(row["both"] for row in kinds) == flawed["both"]
    assert overlap["clean"]["documents"] == 6


def test_running_both_flags_what_either_flags_and_costs_both(sides: tuple[Side, Side]) -> None:
    found = compare_judges(*sides, flags_by="swept", union=True)
    union, flags = found["union"], found["flags"]
    for part, rate in (("flawed", "detection"), ("clean", "false_alarms")):
        either = flags[part]["both"] + flags[part]["only_a"] + flags[part]["only_b"]
        assert union["either"][rate]["flagged"] == either
        assert union["a"][rate]["flagged"] == flags[part]["both"] + flags[part]["only_a"]
    costs = union["cost"]
    assert costs["amortised"]["tokens"] == costs["a"]["amortised"]["tokens"] + costs["b"]["amortised"]["tokens"]


def test_overlap_counts_only_documents_that_both_decide() -> None:
    first = Flagging("a", "own", np.array([1.0, 1.0, 0.0, 0.0, np.nan, 1.0]))
    second = Flagging("b", "own", np.array([1.0, 0.0, 1.0, 0.0, 1.0, np.nan]))
    rows = np.ones(6, dtype=np.bool_)
    expected = {"documents": 6, "both": 1, "only_a": 1, "only_b": 1, "neither": 1, "undecided": 2}
    assert overlap_row(first, second, rows) == expected


def test_the_baselines_can_be_compared_too(finished_judging: Path) -> None:
    found = compare_judges(find_side(f"{finished_judging}:whole"), find_side(f"{finished_judging}:word-overlap"))
    assert found["b"]["design"] == "word-overlap"
    assert found["paired"]["omission"]["difference"] < 0


def test_a_judge_is_not_compared_with_itself(sides: tuple[Side, Side]) -> None:
    with pytest.raises(InputError, match="A and B are the same judge"):
        compare_judges(sides[0], sides[0])


def test_a_run_with_several_judges_needs_a_name_and_a_misspelt_one_is_hinted(finished_judging: Path) -> None:
    with pytest.raises(InputError, match=r"has 2 judges; name one of them, as in .*:whole"):
        find_side(str(finished_judging))
    with pytest.raises(InputError, match="has no judge 'fact'; did you mean 'facts'"):
        find_side(f"{finished_judging}:fact")


def test_a_directory_that_is_no_judging_run_is_refused(tmp_path: Path, finished_run: Path) -> None:
    with pytest.raises(InputError, match=r"holds no ledger\.jsonl"):
        find_side(str(tmp_path))
    with pytest.raises(InputError, match="is no judging run"):
        find_side(str(finished_run))


def test_a_run_with_one_judge_is_named_by_its_directory(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    judge(judging().only(["whole"]), consults, tmp_path / "one")
    assert find_side(str(tmp_path / "one")).judged.judge["name"] == "whole"


def test_other_examples_are_refused_and_their_common_part_is_compared_where_asked(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    first = judge(judging(), consults, tmp_path / "a")
    fewer = judging(selection={"groups": 6, "flawed_per_group": 2, "seed": 1}, seed=2)
    second = judge(fewer, consults, tmp_path / "b")
    with pytest.raises(InputError, match=r"6 examples are only in the first, 0 only in the second.*give --common"):
        compare_judges(first, second)
    found = compare_judges(first, second, common=True)
    assert found["examples"]["count"] == 18
    assert found["examples"]["left_out"] == [6, 0]
    assert found["words"][1] == "Only the common part is compared: 6 documents of A and 0 of B are left out."


def test_other_replicates_are_refused_and_nothing_in_common_is_an_error(
    judging: MakeJudging, consults: Corpus, finished_judging: Path, tmp_path: Path
) -> None:
    once = judge(judging(), consults, tmp_path / "once")
    thrice = find_side(f"{finished_judging}:whole")
    with pytest.raises(InputError, match=r"replicates are \[0\] and \[0, 1, 2\]; give --common"):
        compare_judges(once, thrice)
    assert aligned(once, thrice, common=True).second.replicates == (0,)
    elsewhere = judge(judging(selection={"groups": 2, "seed": 9}), consults, tmp_path / "elsewhere")
    if {e.id for e in elsewhere.judged.evaluation.examples}.isdisjoint(once.run.examples):
        with pytest.raises(InputError, match="have no example and replicate in common"):
            compare_judges(once, elsewhere, common=True)


def test_another_corpus_is_refused_even_for_the_common_part(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    first = judge(judging(), consults, tmp_path / "a")
    changed = Corpus(consults.examples[:-1], consults.facts)
    second = judge(judging(), changed, tmp_path / "b")
    with pytest.raises(InputError, match="judged different corpora"):
        compare_judges(first, second, common=True)


def test_undefined_numbers_are_none_with_a_reason(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    part = Corpus(tuple(example for example in consults.examples if example.label != "commission"), consults.facts)
    JudgingRun(judging(selection={"groups": 2}), part, tmp_path / "run", texts={}).run()
    found = compare_judges(find_side(f"{tmp_path / 'run'}:whole"), find_side(f"{tmp_path / 'run'}:facts"))
    row = found["paired"]["commission"]
    assert (row["difference"], row["sign_flip_p"], row["pairs"], row["planned"]) == (None, None, 0, 0)
    assert row["reason"] == "there is no observation"
    json.dumps(found, allow_nan=False)


def test_where_nothing_is_decided_no_test_has_a_p_value() -> None:
    examples = [Example(f"o{n}", f"g{n}", "s", "", "", "omission", "omit", twin="c") for n in range(3)]
    scored = scored_evaluation(Evaluation("c", tuple(examples), ()))
    undecided = Flagging("a", "own", np.full(3, np.nan))
    row = flags_row(scored, [undecided, undecided], by="own", seed=0)["flawed"]
    assert (row["mcnemar_p"], row["mid_p"], row["sign_flip_p"], row["difference"]) == (None, None, None, None)
    assert (row["undecided"], row["reason"]) == (3, "there is no observation")

"""Judging runs: what they record, how they are resumed, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage import canonical_state, read_events
from lineage.audit import audit_ledger
from lineage.errors import BudgetError, LedgerError, PlanError, SealError
from optimize.judging import JudgingPlan, JudgingRun, parse_judging_plan
from optimize.judging import run as module
from optimize.judging.judges import _candidate
from optimize.judging.recorded import load_judging
from optimize.recompute import load_run
from splits import Corpus, Selection, SplitLock, commit_lock, load_lock, plan_lock
from students.baselines import WORD_OVERLAP
from tests.conftest import JudgeEndpoint

MakeJudging = Callable[..., JudgingPlan]


@pytest.fixture
def lock(tmp_path: Path, consults: Corpus) -> SplitLock:
    """A committed lock of nine groups."""
    sizes = {"reflect": 3, "accept": 3, "heldout": 3}
    selection = Selection(groups=9, flawed_per_group=2, seed=3)
    commit_lock(plan_lock(consults, sizes=sizes, seed=3, selection=selection), tmp_path / "split.lock.json")
    return load_lock(tmp_path / "split.lock.json", consults)


def locked(make: MakeJudging, split: str) -> JudgingPlan:
    return make(selection=None, splits={"lock": "split.lock.json"}, split=split)


def types(directory: Path) -> list[str]:
    return [event.type for event in read_events(directory / "ledger.jsonl")]


def test_a_run_records_plan_examples_every_judge_and_the_table_in_that_order(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    result = JudgingRun(judging(), consults, tmp_path / "run", texts={}).run()
    assert types(tmp_path / "run") == [
        *("plan", "examples", "candidate", "evaluation", "candidate", "evaluation"),
        *("candidate", "evaluation", "evaluation", "table", "spend", "finished"),
    ]
    run = load_judging(tmp_path / "run")
    assert run.judges == ("whole", "facts", "word-overlap", "sentence-embedding")
    ids = {event.body["purpose"]: event.body["examples"] for event in run.all("evaluation")}
    assert len({json.dumps(row) for row in ids.values()}) == 1, "all judge the same examples"
    assert result.table["examples"]["count"] == 24
    assert result.paid == 24 + 3 * 24
    assert json.loads((tmp_path / "run" / "table.json").read_text())["ledger_head"]["count"] == 12


def test_a_finished_run_is_read_back_without_a_call(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    first = JudgingRun(judging(), consults, tmp_path / "run", texts={}).run()
    (tmp_path / "calls.sqlite").unlink()
    again = JudgingRun(judging(), consults, tmp_path / "run", texts={}).run()
    assert (again.table, again.paid, again.found) == (first.table, 0, 0)


def test_a_run_stopped_by_a_limit_goes_on_where_it_stopped_and_pays_nothing_twice(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    whole = JudgingRun(judging(), consults, tmp_path / "whole" / "run", texts={}).run()
    out = tmp_path / "stopped" / "run"
    paid = 0
    for limit in (10, 40, 80):
        with pytest.raises(BudgetError, match=rf"limits.calls = {limit} would be passed"):
            JudgingRun(judging(limits={"calls": limit}), consults, out, texts={}).run()
        stopped = [event for event in read_events(out / "ledger.jsonl") if event.type == "stopped"][-1]
        paid = sum(row["calls"] for row in stopped.body["volatile"]["paid"].values())
        assert paid == limit, "the limit holds over all judges, and over all processes"
    ended = JudgingRun(judging(limits={"calls": 96}), consults, out, texts={}).run()
    assert paid + ended.paid == whole.paid
    assert canonical_state(read_events(out / "ledger.jsonl")) == canonical_state(
        read_events(tmp_path / "whole" / "run" / "ledger.jsonl")
    )
    assert [finding for finding in audit_ledger(out) if finding.severity != "info"] == []


def test_a_directory_of_another_plan_is_refused(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    JudgingRun(judging(), consults, tmp_path / "run", texts={}).run()
    with pytest.raises(PlanError, match=r"holds another run.*give another --out"):
        JudgingRun(judging(seed=2), consults, tmp_path / "run", texts={}).run()


def test_the_same_calls_of_a_part_of_the_students_are_found_in_the_cache(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    JudgingRun(judging().only(["facts"]), consults, tmp_path / "part", texts={}).run()
    result = JudgingRun(judging(), consults, tmp_path / "all", texts={}).run()
    assert (result.paid, result.found) == (24, 72)


def test_a_students_own_text_is_what_it_judges_with(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    students = [{"name": "mine", "shape": "whole-note", "instruction": "any"}, {"name": "seed", "shape": "whole-note"}]
    plan = judging(students=students)
    JudgingRun(plan, consults, tmp_path / "run", texts={"mine": "Count what is missing."}).run()
    texts = [event.body["texts"] for event in load_judging(tmp_path / "run").all("candidate")]
    assert texts[0] == {"instruction": "Count what is missing."}
    assert texts[1] != texts[0]


def test_a_text_for_a_student_without_a_block_is_refused() -> None:
    with pytest.raises(PlanError, match="instruction is one text, and word-overlap has none; remove it"):
        _candidate(WORD_OVERLAP, "Judge.")


def test_a_run_cannot_be_pickled_and_shows_no_text(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    run = JudgingRun(judging(), consults, tmp_path / "run", texts={})
    with pytest.raises(SealError, match="cannot be pickled"):
        run.__reduce__()
    assert repr(run) == f"JudgingRun('judges', {str(tmp_path / 'run')!r})"


def test_a_ladder_makes_one_row_a_budget_with_the_same_text(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    students = [{"name": "whole", "shape": "whole-note"}]
    plan = judging(students=students, budgets=[{"answer_tokens": 16}, {"answer_tokens": 24}])
    result = JudgingRun(plan, consults, tmp_path / "run", texts={}).run()
    short, long = result.table["judges"][:2]
    assert (short["name"], long["name"]) == ("whole@none-16", "whole@none-24")
    assert short["candidate"] == long["candidate"]
    assert result.paid == 48, "another budget is another call"
    assert "A student at several budgets has the same text at each." in result.table["words"]


def test_a_student_that_needs_facts_is_refused_where_a_group_has_none(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    bare = Corpus(consults.examples, {})
    with pytest.raises(PlanError, match="student facts needs facts for every group; none for tel-"):
        JudgingRun(judging(), bare, tmp_path / "run", texts={})
    result = JudgingRun(judging().only(["whole"]), bare, tmp_path / "run", texts={}).run()
    assert [judge["name"] for judge in result.table["judges"]] == ["whole"]
    assert "There is no baseline without a language model, as 6 groups have no facts." in result.table["words"]


def test_a_setting_that_a_model_does_not_take_names_the_student(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    students = [{"name": "deep", "shape": "whole-note", "budget": {"effort": "high"}}]
    with pytest.raises(PlanError, match=r"student deep: .* does not accept budget\.effort = high"):
        JudgingRun(judging(students=students), consults, tmp_path / "run", texts={})


def test_a_limit_in_dollars_without_a_price_is_refused(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"limits\.usd has no effect on models without a price"):
        JudgingRun(judging(limits={"usd": 1.0}), consults, tmp_path / "run", texts={})
    endpoint = {"endpoint": "http://127.0.0.1:1/v1", "name": "m"}
    with pytest.raises(PlanError, match=r"limits.usd needs the price of students\.whole\.model"):
        JudgingRun(judging(model=endpoint, limits={"usd": 1.0}), consults, tmp_path / "run", texts={})


def test_accept_is_judged_as_its_lock_has_it(
    judging: MakeJudging, consults: Corpus, lock: SplitLock, tmp_path: Path
) -> None:
    result = JudgingRun(locked(judging, "accept"), consults, tmp_path / "run", texts={}, lock=lock).run()
    run = load_judging(tmp_path / "run")
    assert {example.group for example in run.examples.values()} == set(lock.splits["accept"])
    assert result.table["split"] == "accept"
    assert [finding for finding in audit_ledger(tmp_path / "run") if finding.severity != "info"] == []


def test_heldout_examples_are_judged_for_a_stated_reason_behind_the_seal_alone(
    judging: MakeJudging, consults: Corpus, lock: SplitLock, tmp_path: Path
) -> None:
    plan = locked(judging, "heldout")
    with pytest.raises(SealError, match="give --exploratory REASON"):
        JudgingRun(plan, consults, tmp_path / "run", texts={}, lock=lock)
    with pytest.raises(SealError, match="give --exploratory REASON"):
        JudgingRun(plan, consults, tmp_path / "run", texts={}, lock=lock, exploratory="  ")
    run = JudgingRun(plan, consults, tmp_path / "run", texts={}, lock=lock, exploratory="to see")
    assert run.part.examples == (), "nothing but the seal hands them out"
    result = run.run()
    (opened,) = [event.body for event in read_events(tmp_path / "run" / "ledger.jsonl") if event.type == "seal_opened"]
    assert (opened["opening"], opened["purpose"], opened["exploratory"]) == ("exploratory", "judge", "to see")
    assert opened["comparison"] is None
    assert result.table["examples"]["count"] == 9
    assert any(words.startswith("EXPLORATORY (to see)") for words in result.table["words"])
    assert [finding for finding in audit_ledger(tmp_path / "run") if finding.severity == "error"] == []
    heldout = {text for e in consults.examples if e.group in lock.splits["heldout"] for text in (e.document, e.source)}
    for path in sorted((tmp_path / "run").rglob("*.json*")):
        said = path.read_text(encoding="utf-8")
        assert not any(json.dumps(text)[1:80] in said for text in heldout), f"{path.name} holds held-out text"


def test_a_heldout_run_is_resumed_by_the_same_opening(
    judging: MakeJudging, consults: Corpus, lock: SplitLock, tmp_path: Path
) -> None:
    plan, out = locked(judging, "heldout"), tmp_path / "run"
    limited = plan.model_copy(update={"limits": plan.limits.model_copy(update={"calls": 12})})
    with pytest.raises(BudgetError, match=r"limits\.calls = 12"):
        JudgingRun(limited, consults, out, texts={}, lock=lock, exploratory="to see").run()
    JudgingRun(plan, consults, out, texts={}, lock=lock, exploratory="to see").run()
    assert types(out).count("seal_opened") == 1
    assert [finding for finding in audit_ledger(out) if finding.severity == "error"] == []


def test_a_reason_without_heldout_examples_is_refused(
    judging: MakeJudging, consults: Corpus, lock: SplitLock, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match="--exploratory has no effect on split: all"):
        JudgingRun(judging(), consults, tmp_path / "run", texts={}, exploratory="why not")
    with pytest.raises(PlanError, match="needs the split lock that its plan names"):
        JudgingRun(judging(), consults, tmp_path / "run", texts={}, lock=lock)


def test_what_stopped_a_run_is_gone_when_it_goes_on(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / module.STOPPED).write_text("stopped", encoding="utf-8")
    JudgingRun(judging().only(["whole"]), consults, out, texts={}).run()
    assert not (out / module.STOPPED).exists()


def test_recorded_answers_stand_in_for_the_model_and_say_so(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    plan = judging().only(["whole"])
    first = JudgingRun(plan, consults, tmp_path / "a" / "run", texts={}).run()
    inner = plan.students[0].model.model_dump(mode="json", exclude_unset=True)
    replay = {"replay": str(tmp_path / "a" / "calls.sqlite"), "of": inner}
    again = judging(students=[{"name": "whole", "shape": "whole-note", "model": replay}])
    assert parse_judging_plan(again.model_dump(mode="json", exclude_unset=True), where="x").hash == plan.hash
    result = JudgingRun(again, consults, tmp_path / "b" / "run", texts={}).run()
    assert result.paid == 0
    assert result.table["judges"][0]["paired"] == first.table["judges"][0]["paired"]
    assert "Recorded answers stand in for students.whole.model." in result.table["words"]


def test_only_the_checker_is_swapped_where_a_pipeline_names_its_lister(
    judging: MakeJudging, consults: Corpus, tmp_path: Path
) -> None:
    lister = {"simulated": {"noise": 2.0}}
    plain = {"name": "plain", "shape": "two-stage", "max_facts": 6, "model": lister}
    swapped = {**plain, "name": "swapped", "model": {"simulated": {"noise": 0.5}}, "lister": lister}
    plan = judging(students=[plain, swapped])
    result = JudgingRun(plan, consults, tmp_path / "run", texts={}).run()
    run = load_judging(tmp_path / "run")
    lists = [{(j.example, j.raw[0]) for j in run.judged(name).evaluation.judgements} for name in ("plain", "swapped")]
    assert lists[0] == lists[1], "both check the same facts"
    assert result.paid == 6 + 2 * 24, "and the lists are paid for once"
    checks = [{(j.example, j.raw[1]) for j in run.judged(name).evaluation.judgements} for name in ("plain", "swapped")]
    assert checks[0] != checks[1]
    assert [finding for finding in audit_ledger(tmp_path / "run") if finding.severity != "info"] == []


def test_a_lister_of_a_design_without_a_list_is_refused(judging: MakeJudging, consults: Corpus, tmp_path: Path) -> None:
    students = [{"name": "a", "shape": "whole-note", "lister": {"simulated": {"noise": 1.0}}}]
    with pytest.raises(PlanError, match="student a: lister has no effect on shape whole-note"):
        JudgingRun(judging(students=students), consults, tmp_path / "run", texts={})


def test_a_price_becomes_dollars_a_document_and_a_limit_in_dollars_holds(
    judging: MakeJudging, consults: Corpus, tmp_path: Path, judge_endpoint: JudgeEndpoint
) -> None:
    price = {"prompt_usd_per_million": 1000.0, "completion_usd_per_million": 10_000.0}
    model = {"endpoint": judge_endpoint.url, "name": "judge", "price": price}
    students = [{"name": "facts", "shape": "per-fact", "budget": {"answer_tokens": 1}, "max_facts": 2, "model": model}]
    plan = judging(students=students, selection={"groups": 2, "flawed_per_group": 1})
    cost = JudgingRun(plan, consults, tmp_path / "run", texts={}).run().table["judges"][0]["cost"]["amortised"]
    assert cost["usd"] == pytest.approx(0.001 * cost["prompt_tokens"] + 0.01 * cost["completion_tokens"])
    limited = plan.model_copy(update={"limits": plan.limits.model_copy(update={"usd": 0.5})})
    with pytest.raises(BudgetError, match=r"limits\.usd = 0\.5 would be passed"):
        JudgingRun(limited, consults, tmp_path / "limited" / "run", texts={}).run()


def test_all_judges_of_one_endpoint_share_what_is_under_way(
    judging: MakeJudging, consults: Corpus, tmp_path: Path, judge_endpoint: JudgeEndpoint
) -> None:
    def student(name: str, facts: int, concurrency: int) -> dict[str, Any]:
        model = {"endpoint": judge_endpoint.url, "name": "judge", "concurrency": concurrency}
        return {"name": name, "shape": "per-fact", "budget": {"answer_tokens": 1}, "max_facts": facts, "model": model}

    plan = judging(students=[student("two", 2, 3), student("three", 3, 4), student("one", 1, 3)])
    result = JudgingRun(plan, consults, tmp_path / "run", texts={}).run()
    assert [judge["scored"] for judge in result.table["judges"][:3]] == [24] * 3
    assert result.paid == 24 * 3, "calls that two judges share are made once, whichever way they go"


def test_a_judging_run_is_not_read_as_a_campaign(finished_judging: Path) -> None:
    with pytest.raises(LedgerError, match="is a judging run and no campaign; read it with holdgate report or compare"):
        load_run(finished_judging)

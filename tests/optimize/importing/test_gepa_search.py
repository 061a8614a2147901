"""Searches that gepa and dspy saved, made here by the libraries themselves."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gepa
import pytest
from gepa.core.adapter import EvaluationBatch

from lineage import read_events
from lineage.errors import InputError
from lineage.imported import published
from lineage.tree import tree_rows
from optimize.importing import audit_imported, import_lineage, read_lineage, result_lineage, write_lineage

ANSWERS = ["judge it now", "no", "judge it now and once more", "judge all of it now and once more, slowly"]


class Adapter:
    """Scores an instruction by its length; a shorter one is worse."""

    propose_new_texts = None

    def evaluate(self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        scores = [min(1.0, len(candidate["instruction"]) / 50 + number / 100) for number in batch]
        return EvaluationBatch(
            outputs=[{"said": "text"}] * len(batch),
            scores=scores,
            trajectories=[{}] * len(batch) if capture_traces else None,
        )

    def make_reflective_dataset(self, candidate: Any, evaluated: Any, components: list[str]) -> Any:
        return {name: [{"Feedback": "longer"}] for name in components}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real search's run directory and result: it accepted some proposals and rejected one."""
    directory = tmp_path_factory.mktemp("gepa")
    answers = iter(ANSWERS)
    quiet: Any = SimpleNamespace(log=lambda message: None)
    result = gepa.optimize(
        seed_candidate={"instruction": "judge it"},
        trainset=[0, 1, 2],
        valset=[0, 1, 2, 3],
        adapter=Adapter(),  # type: ignore[arg-type]  # what gepa asks of it, in a few lines
        reflection_lm=lambda prompt: f"```\n{next(answers)}\n```",
        max_metric_calls=35,
        run_dir=str(directory),
        logger=quiet,
        seed=1,
    )
    return SimpleNamespace(directory=directory, result=result)


@pytest.fixture
def imported(searched: Any, tmp_path: Path) -> Path:
    import_lineage("gepa", searched.directory, tmp_path / "run", name="theirs")
    return tmp_path / "run"


def test_every_accepted_candidate_has_its_texts_parents_and_scores(searched: Any, imported: Path) -> None:
    events, result = read_events(imported / "ledger.jsonl"), searched.result
    rows = [row for row in tree_rows(events) if row.outcome != "rejected"]
    bodies = {event.seq: event.body for event in events if event.type == "candidate"}
    assert len(rows) == len(result.candidates) > 2
    assert [bodies[row.seq]["texts"] for row in rows] == result.candidates
    assert [[bodies[seq]["place"] for seq in row.parent_seqs] for row in rows] == [
        [str(parent) for parent in parents if parent is not None] for parents in result.parents
    ]
    assert [row.score for row in rows] == pytest.approx(result.val_aggregate_scores)
    scores = [body["scores"] for body in published(events, "scores")]
    assert scores == [{str(key): value for key, value in found.items()} for found in result.val_subscores]


def test_what_was_rejected_is_there_without_its_text(imported: Path) -> None:
    events = read_events(imported / "ledger.jsonl")
    rejected = [row for row in tree_rows(events) if row.outcome == "rejected"]
    assert [(row.iteration, row.words, row.score) for row in rejected] == [(2, None, None)]
    assert "its parent's" in (rejected[0].reason or "")


def test_the_ledger_says_what_the_source_lacked(imported: Path) -> None:
    body = read_events(imported / "ledger.jsonl")[0].body
    assert body["format"] == "gepa run_dir"
    assert [file["name"] for file in body["files"]] == ["gepa_state.bin"]
    assert any("held-out" in words for words in body["lacks"])
    assert any("texts of rejected" in words for words in body["lacks"])


def test_the_audit_finds_it_in_order_and_says_what_it_rests_on(imported: Path) -> None:
    found = audit_imported(imported)
    assert {finding.severity for finding in found} == {"info"}
    assert any("nothing of it was measured" in finding.words for finding in found)


def test_the_result_as_json_gives_the_accepted_candidates(searched: Any, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(searched.result.to_dict(), default=str), encoding="utf-8")
    lineage = read_lineage("gepa", tmp_path / "result.json")
    assert [dict(one.texts) for one in lineage.candidates] == searched.result.candidates
    assert [one.iteration for one in lineage.candidates][1:] == [None] * (len(searched.result.candidates) - 1)
    assert lineage.name == "result"


def dspy_result(searched: Any) -> Any:
    """A real ``detailed_results`` of compiled programs."""
    import dspy
    from dspy.teleprompt.gepa.gepa import DspyGEPAResult

    def program(text: str) -> Any:
        return dspy.Predict(dspy.Signature("note -> score", text))

    found = searched.result
    return DspyGEPAResult(
        candidates=[program(texts["instruction"]) for texts in found.candidates],
        parents=found.parents,
        val_aggregate_scores=found.val_aggregate_scores,
        val_subscores=found.val_subscores,
        per_val_instance_best_candidates=found.per_val_instance_best_candidates,
        discovery_eval_counts=found.discovery_eval_counts,
        total_metric_calls=found.total_metric_calls,
        log_dir=str(searched.directory),
        seed=1,
    )


def test_dspy_s_detailed_results_are_read_as_json_and_as_an_object(searched: Any, tmp_path: Path) -> None:
    result = dspy_result(searched)
    (tmp_path / "detailed.json").write_text(json.dumps(result.to_dict(), default=str), encoding="utf-8")
    saved = read_lineage("dspy", tmp_path / "detailed.json")
    held = result_lineage(result, name="held")
    assert [dict(one.texts) for one in saved.candidates] == [
        {"self": texts["instruction"]} for texts in searched.result.candidates
    ]
    assert saved.candidates == held.candidates
    assert held.format == "dspy detailed_results"
    assert held.settings["seed"] == 1
    write_lineage(held, tmp_path / "run")
    assert {finding.severity for finding in audit_imported(tmp_path / "run")} == {"info"}


def test_dspy_s_log_folder_is_gepa_s_run_folder(searched: Any) -> None:
    assert read_lineage("dspy", searched.directory).format == "gepa run_dir"


def test_dspy_s_result_as_a_pickle_is_refused_with_the_way_to_save_it(searched: Any, tmp_path: Path) -> None:
    (tmp_path / "result.bin").write_bytes(pickle.dumps(searched.result))
    with pytest.raises(InputError, match=r"names gepa\.core\.result\.GEPAResult.*Save the result as JSON"):
        read_lineage("dspy", tmp_path / "result.bin")


def test_a_result_whose_scores_are_not_numbers_has_missing_ones(searched: Any, tmp_path: Path) -> None:
    data = searched.result.to_dict()
    data["val_subscores"] = [dict.fromkeys(scores) for scores in data["val_subscores"]]
    data["val_aggregate_scores"] = [float("-inf")] * len(data["candidates"])
    (tmp_path / "result.json").write_text(json.dumps(data, default=str), encoding="utf-8")
    import_lineage("gepa", tmp_path / "result.json", tmp_path / "run")
    events = read_events(tmp_path / "run" / "ledger.jsonl")
    assert {row.score for row in tree_rows(events)} == {None}
    assert published(events, "scores") == []


def test_a_text_found_twice_is_two_candidates_with_ids_of_their_own(searched: Any, tmp_path: Path) -> None:
    data = searched.result.to_dict()
    data["candidates"][2] = data["candidates"][1]
    (tmp_path / "result.json").write_text(json.dumps(data, default=str), encoding="utf-8")
    import_lineage("gepa", tmp_path / "result.json", tmp_path / "run")
    rows = tree_rows(read_events(tmp_path / "run" / "ledger.jsonl"))
    assert len({row.candidate for row in rows}) == len(rows)
    assert [row.score for row in rows] == pytest.approx(searched.result.val_aggregate_scores)
    assert {finding.severity for finding in audit_imported(tmp_path / "run")} == {"info"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidates": []}, "holds no candidate"),
        ({"candidates": "x"}, "candidates is missing, or is no list"),
        ({"parents": [[None]]}, "candidates and the parents of 1"),
        ({"parents": [["a"]]}, "numbers of each candidate's parents"),
        ({"parents": [[3], [0], [0], [0]]}, "names the parent 3, which is no candidate before it"),
    ],
)
def test_a_result_that_is_none_is_refused(searched: Any, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    data = {**searched.result.to_dict(), **change}
    (tmp_path / "result.json").write_text(json.dumps(data, default=str), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        import_lineage("gepa", tmp_path / "result.json", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def state(**changes: Any) -> dict[str, Any]:
    """A saved search of three seeds' worth of candidates, as gepa 0.1.4 pickles it."""
    texts = [{"instruction": text} for text in ("one", "two", "three", "four")]
    return {
        "program_candidates": texts,
        "parent_program_for_candidate": [[None], [0], [0], [1, 2]],
        "prog_candidate_val_subscores": [{"a": 0.1 * number} for number in range(4)],
        "full_program_trace": [
            {"i": 0, "selected_program_candidate": 0, "subsample_scores": [0.5], "new_subsample_scores": [0.75]}
            | {"new_program_idx": 1},
            {"i": 1, "tasks": [{"parent_idx": 0, "subsample_scores": [0.5], "new_subsample_scores": [1.0]}]}
            | {"new_program_idx": 2},
            {"i": 2, "merged_entities": (1, 2, 0), "id1_subsample_scores": [0.25, 0.25]}
            | {"id2_subsample_scores": [0.5, 0.5], "new_program_subsample_scores": [0.25, 0.5]},
            {"i": 3, "merged_entities": (1, 2, 0), "id1_subsample_scores": [0.25, 0.25]}
            | {"id2_subsample_scores": [0.5, 0.5], "new_program_subsample_scores": [0.75, 0.5], "new_program_idx": 3},
            {"i": 3, "selected_program_candidate": 3, "subsample_scores": [0.5], "new_subsample_scores": [0.25]},
            {"i": 4, "selected_program_candidate": 3, "subsample_scores": [0.5]},
        ],
        **changes,
    }


def test_merges_and_a_resumed_search_are_read_with_their_minibatches(tmp_path: Path) -> None:
    (tmp_path / "gepa_state.bin").write_bytes(pickle.dumps(state()))
    found = [
        (one.name, one.kind, one.outcome, one.parents, one.minibatch, one.iteration)
        for one in read_lineage("gepa", tmp_path).candidates
    ]
    assert found == [
        ("seed", "seed", "seed", (), None, 0),
        ("p01", "mutation", "accepted", ("0",), (0.5, 0.75), 1),
        ("p02", "mutation", "accepted", ("0",), (0.5, 1.0), 2),
        ("i03", "merge", "rejected", ("1", "2"), (0.5, 0.375), 3),
        ("p03", "merge", "accepted", ("1", "2"), (0.5, 0.625), 4),
        ("i05", "mutation", "rejected", ("3",), (0.5, 0.25), 4),
    ]


def test_a_state_before_version_2_is_read_too(tmp_path: Path) -> None:
    old = state(prog_candidate_val_subscores=[[0.5], [0.25], [0.5], [1.0]], full_program_trace=[])
    (tmp_path / "gepa_state.bin").write_bytes(pickle.dumps(old))
    lineage = read_lineage("gepa", tmp_path)
    assert [one.scores for one in lineage.candidates] == [{"0": 0.5}, {"0": 0.25}, {"0": 0.5}, {"0": 1.0}]
    assert "rejected proposals" in lineage.lacks
    assert {one.iteration for one in lineage.candidates[1:]} == {None}


def test_a_pickle_of_something_else_is_no_search(tmp_path: Path) -> None:
    for value, words in ((["a"], "holds no saved search but a list"), ({"a": 1}, "program_candidates is missing")):
        (tmp_path / "gepa_state.bin").write_bytes(pickle.dumps(value))
        with pytest.raises(InputError, match=words):
            read_lineage("gepa", tmp_path)


def test_a_directory_that_holds_something_takes_no_import(searched: Any, imported: Path) -> None:
    with pytest.raises(InputError, match="holds something already"):
        import_lineage("gepa", searched.directory, imported)


def test_a_kind_that_is_none_is_told_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'gepa'"):
        read_lineage("geppa", tmp_path)
    with pytest.raises(InputError, match="there is nothing"):
        read_lineage("gepa", tmp_path / "absent")
    with pytest.raises(InputError, match=r"cannot be read .*gepa_state\.bin"):
        read_lineage("gepa", tmp_path)

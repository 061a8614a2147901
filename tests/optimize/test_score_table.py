from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import CampaignError, InputError
from optimize.recompute import RecordedRun, load_run
from optimize.replicates import recorded_evaluation, seed_of
from optimize.score_table import ScoredDocument, ScoreTable, read_scores, recorded_scores

HEAD = "id,group,site,label,score\n"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_json_lines_give_the_same_table(tmp_path: Path) -> None:
    table = read_scores(
        written(tmp_path / "a.csv", HEAD + "n2,g,north,omission,3\nn1,g,north,clean,9.5\nn3,h,,clean,\n")
    )
    rows = [
        {"id": "n1", "group": "g", "site": "north", "label": "clean", "score": 9.5},
        {"id": "n2", "group": "g", "site": "north", "label": "omission", "score": 3},
        {"id": "n3", "group": "h", "label": "clean", "score": None},
    ]
    lines = read_scores(written(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert table.documents == lines.documents
    assert table.parts("site") == ("north",)
    assert table.parts("stratum") == ()
    assert table.constructed, "the group of n1 holds a flawed document made from it"
    assert table.documents[2].score is None


def test_a_deployments_notes_are_clean_without_saying_so_and_each_its_own_group(tmp_path: Path) -> None:
    path = written(tmp_path / "notes.csv", "id,score\na,0.5\nb,0.7\n")
    table = read_scores(path, clean=True)
    assert [(document.label, document.group) for document in table.documents] == [("clean", "a"), ("clean", "b")]
    assert not table.constructed
    with pytest.raises(
        InputError, match="'label' is missing or empty; every document has one, but for the clean notes"
    ):
        read_scores(path)


def test_clean_candidates_are_counted_apart(tmp_path: Path) -> None:
    text = "id,label,score,candidate\na,clean,1,true\nb,clean,1,\nc,omission,1,false\n"
    counts = read_scores(written(tmp_path / "a.csv", text)).clean_counts
    assert (counts.verified, counts.candidates) == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "a,g,x,clean,1\na,g,x,clean,2\n", r":3: id 'a' occurs twice"),
        (HEAD + "a,g,x,fine,1\n", r":2: label must be one of clean, omission"),
        (HEAD + "a,g,x,clean,nan\n", r":2: score must be a finite number, got 'nan'"),
        (HEAD + "a,g,x,clean,8/10\n", r":2: score must be a finite number, got '8/10'"),
        (HEAD + "a,g,x,clean\n", r":2: has fewer cells than the header"),
        (HEAD + "a,g,x,clean,1,2\n", r":2: has more cells than the header"),
        (HEAD + ",g,x,clean,1\n", r":2: column 'id' is missing or empty"),
        (HEAD, "holds no document"),
        ("id,label\na,clean\n", r"column 'score' is missing"),
        ("id,label,score,place\na,clean,1,x\n", r"column 'place' is unknown"),
        ("id,label,score,candidate\na,omission,1,true\n", r"true for clean documents only"),
        ("id,label,score,candidate\na,clean,1,perhaps\n", r"candidate must be true or false"),
    ],
)
def test_a_broken_table_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_scores(written(tmp_path / "a.csv", text))


def test_a_table_that_is_not_there_or_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_scores(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes((HEAD + "a,g,Zürich,clean,1\n").encode("cp1252"))
    with pytest.raises(InputError, match="UTF-8"):
        read_scores(tmp_path / "latin.csv")


@given(scores=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_scores_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, scores: list[float]) -> None:
    text = HEAD + "".join(f"n{number:03d},g,x,clean,{score!r}\n" for number, score in enumerate(scores))
    table = read_scores(written(tmp_path_factory.mktemp("scores") / "a.csv", text))
    assert [document.score for document in table.documents] == scores


def test_recorded_scores_are_those_of_the_run(finished_run: Path) -> None:
    run = load_run(finished_run)
    seed = seed_of(run)
    table = recorded_scores(run, split="heldout", candidate=seed)
    evaluation = recorded_evaluation(run, split="heldout", candidate=seed)
    assert {d.id: d.score for d in table.documents} == {ex.id: evaluation.score(ex.id, 0) for ex in evaluation.examples}
    assert {d.stratum for d in table.documents} == {ex.stratum for ex in evaluation.examples}
    assert {d.site for d in table.documents} == {ex.cohort or "" for ex in evaluation.examples}
    assert table.constructed


def test_recorded_scores_of_several_replicates_are_their_median(measured_noise: Path) -> None:
    run = load_run(measured_noise)
    table = recorded_scores(run, split="accept", candidate=seed_of(run))
    evaluation = recorded_evaluation(run, split="accept", candidate=seed_of(run))
    for document in table.documents:
        scores = [evaluation.score(document.id, replicate) for replicate in range(3)]
        assert document.score == sorted(score for score in scores if score is not None)[1]


def test_held_out_scores_of_an_unfinished_run_stay_shut(finished_run: Path) -> None:
    run = load_run(finished_run)
    events = tuple(event for event in run.events if event.type != "finished")
    with pytest.raises(CampaignError, match="is not finished"):
        recorded_scores(
            RecordedRun(run.directory, events, run.examples, run.lock), split="heldout", candidate=seed_of(run)
        )


def test_a_set_of_clean_documents_alone_is_not_constructed() -> None:
    documents = (ScoredDocument("a", "g", "", "clean", 1.0), ScoredDocument("b", "h", "", "omission", 0.0))
    assert not ScoreTable("t", documents, "").constructed

"""The published campaign as a read-only one, and files of its form that are not what they should be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage import Ledger, read_events
from lineage.audit import audit_ledger
from lineage.canonical import canonical_json
from lineage.errors import InputError
from lineage.imported import published
from lineage.tree import tree_rows
from optimize.importing import audit_imported, import_lineage, read_lineage
from optimize.recompute import audit_numbers

DATA = Path(__file__).parents[3].parent / "shared" / "omissionbench"
PUBLISHED = pytest.mark.skipif(not DATA.is_dir(), reason=f"the published records are not at {DATA}")

ROWS: list[dict[str, Any]] = [
    {"leg": "pipeline", "iter": 0, "kind": "seed", "name": "first", "id": 0, "chars": 5, "outcome": "seed"}
    | {"valid_paired": 0.75, "valid_det10": 0.5},
    {"leg": "pipeline", "iter": 1, "kind": "mutation", "origin": "#0", "chars": 9, "outcome": "accepted", "id": 1}
    | {"valid_paired": 1.0, "valid_det10": 1.0, "mb_parent": 0.25, "mb_child": 0.5},
    {"leg": "pipeline", "iter": 2, "kind": "merge", "origin": "#1+#0", "chars": 9, "outcome": "rejected_minibatch"}
    | {"mb_parent": 0.5, "mb_child": 0.25},
]
CSV = """note_key,consultation,class,kind,trace,first
a|clean,a,clean,clean,,1.0
a|omit,a,omission,omit,,1.0
b|clean,b,clean,clean,,1.0
b|omit,b,omission,omitc,complete,0.5
"""


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A small release of two consultations."""
    place = tmp_path / "release"
    place.mkdir()
    (place / "x_trajectory.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    (place / "x_accept_scores.csv").write_text(CSV, encoding="utf-8")
    return place


def test_measures_that_the_scores_do_not_give_are_remarked_upon(release: Path, tmp_path: Path) -> None:
    import_lineage("omissionbench", release, tmp_path / "run")
    assert [finding.severity for finding in audit_imported(tmp_path / "run")].count("warning") == 0
    rows = [{**ROWS[0], "valid_paired": 0.9}, *ROWS[1:]]
    (release / "x_trajectory.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_lineage("omissionbench", release, tmp_path / "again")
    warned = [finding.words for finding in audit_imported(tmp_path / "again") if finding.severity == "warning"]
    assert warned == ["paired was published as 0.9, and its published scores give 0.75"]


def test_a_trajectory_alone_is_enough_and_what_is_missing_is_said(release: Path, tmp_path: Path) -> None:
    (release / "x_accept_scores.csv").unlink()
    lineage = import_lineage("omissionbench", release / "x_trajectory.jsonl", tmp_path / "run")
    assert lineage.examples is None
    assert {"accept scores by note", "printed results"} <= set(lineage.lacks)
    assert [row.name for row in tree_rows(read_events(tmp_path / "run" / "ledger.jsonl"))] == [
        "first",
        "pipeline-01",
        "pipeline-i02",
    ]


@pytest.mark.parametrize(
    ("line", "change", "words"),
    [
        (1, {"origin": "0"}, r":2: origin must name parents like '#4\+#2', got '0'"),
        (1, {"origin": "#7"}, "names the parent pipeline#7, which is no candidate before it"),
        (1, {"kind": "copy"}, ":2: kind must be one of seed, mutation, merge"),
        (1, {"outcome": "lost"}, ":2: outcome must be one of"),
        (1, {"id": None}, ":2: 'id' must be a int"),
        (2, {"iter": "2"}, ":3: 'iter' must be a int"),
        (1, {"id": 0}, "occurs twice"),
        (0, {"name": "other"}, "column 'first' is of no candidate"),
    ],
)
def test_a_record_that_is_not_as_it_should_be_is_named(
    release: Path, tmp_path: Path, line: int, change: dict[str, Any], words: str
) -> None:
    rows = [{**row, **(change if place == line else {})} for place, row in enumerate(ROWS)]
    (release / "x_trajectory.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        import_lineage("omissionbench", release, tmp_path / "run")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("omission,omit,,1.0", "omission,omit,,nan", ":3: column 'first' must be a finite score, got 'nan'"),
        ("b|clean,b,clean,clean,,1.0\n", "", "consultation 'b' has no clean note"),
        ("trace,first", "traces,first", "column trace is missing"),
        ("a|omit,a,omission,omit,,1.0", "a|clean,a,omission,omit,,0.0", "note 'a|clean' occurs twice"),
        ("a|omit,a,omission,omit,,1.0", "a|omit,a", "not as many fields"),
    ],
)
def test_a_table_that_is_not_as_it_should_be_is_named(release: Path, before: str, after: str, words: str) -> None:
    assert before in CSV
    (release / "x_accept_scores.csv").write_text(CSV.replace(before, after), encoding="utf-8")
    with pytest.raises(InputError, match=words.replace("|", r"\|")):
        read_lineage("omissionbench", release)


def damaged(run: Path, change: Callable[[list[dict[str, Any]]], None]) -> list[str]:
    """Errors of an imported run whose events were changed, and whose chain was written anew."""
    rows = [{"type": event.type, "body": dict(event.body)} for event in read_events(run / "ledger.jsonl")]
    change(rows)
    again = run.parent / f"rewritten-{len(list(run.parent.iterdir()))}"
    with Ledger(again / "ledger.jsonl") as ledger:
        for row in rows:
            ledger.perform(row["type"], row["body"], dict)
    shutil.copyfile(run / "examples.jsonl", again / "examples.jsonl")
    return [finding.words for finding in audit_imported(again) if finding.severity == "error"]


def test_a_rewritten_import_is_found_where_it_contradicts_itself(release: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    import_lineage("omissionbench", release, run)
    candidates = [place for place, e in enumerate(read_events(run / "ledger.jsonl")) if e.type == "candidate"]
    first, second = candidates[:2]

    def renamed(rows: list[dict[str, Any]]) -> None:
        rows[first]["body"]["place"] = "pipeline#9"

    def orphaned(rows: list[dict[str, Any]]) -> None:
        rows[second]["body"]["parents"] = ["0" * 64]

    assert damaged(run, lambda rows: None) == []
    assert "the candidate's id is not that of its texts or its place" in damaged(run, renamed)
    assert "its parent 000000000000 is no earlier candidate" in damaged(run, orphaned)


def test_an_import_with_events_or_files_of_a_campaign_is_found(release: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    import_lineage("omissionbench", release, run)
    (run / "prompt.md").write_text("# a prompt\n", encoding="utf-8")
    (run / "examples.jsonl").write_text(canonical_json({"id": "x"}) + "\n", encoding="utf-8")
    places = [finding.place for finding in audit_numbers(run) if finding.severity == "error"]
    assert places == ["prompt.md", "examples.jsonl"]

    def opened(rows: list[dict[str, Any]]) -> None:
        rows.insert(-1, {"type": "seal_opened", "body": {"opening": "confirm"}})

    shutil.rmtree(run)
    import_lineage("omissionbench", release, run)
    assert any("'seal_opened'" in words for words in damaged(run, opened))


@PUBLISHED
class TestThePublishedCampaign:
    @pytest.fixture(scope="class")
    @classmethod
    def run(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        directory = tmp_path_factory.mktemp("published") / "run"
        import_lineage("omissionbench", DATA, directory)
        return directory

    def test_every_published_proposal_is_in_the_tree_with_its_measures(self, run: Path) -> None:
        records = [json.loads(line) for line in (DATA / "v3_trajectory.jsonl").read_text().splitlines()]
        rows = tree_rows(read_events(run / "ledger.jsonl"))
        assert len(rows) == len(records)
        for row, record in zip(rows, records, strict=True):
            assert (row.kind, row.iteration, row.paired, row.detection) == (
                record["kind"],
                record["iter"],
                record.get("valid_paired"),
                record.get("valid_det10"),
            )
            assert len(row.parents) == (0 if record["kind"] == "seed" else record["origin"].count("#"))
        assert [row.name for row in rows if row.winner] == ["v3p-01", "v3m-08"]

    def test_the_printed_figures_of_both_splits_and_targets_are_in_it_word_for_word(self, run: Path) -> None:
        events = read_events(run / "ledger.jsonl")
        results = json.loads((DATA / "v3_published_results.json").read_text())
        names = {event.body["candidate"]: event.body["name"] for event in events if event.type == "candidate"}
        found = published(events, "comparison")
        assert [(body["target"], body["split"]) for body in found] == [
            (target, split) for target in ("pipeline", "mono") for split in ("accept", "heldout")
        ]
        for body in found:
            assert body["figures"] == results[body["target"]][body["split"]]
        assert [names[body["baseline"]] for body in found[::2]] == ["seed_check_binary", "seed_fc_score"]
        assert [body["emitted"] for body in published(events, "decision")] == [False, False]

    def test_the_published_measures_are_those_of_the_published_scores(self, run: Path) -> None:
        assert audit_ledger(run) == []
        found = audit_numbers(run)
        assert {finding.severity for finding in found} == {"info"}
        assert any("computed again from published scores: 8 measures" in finding.words for finding in found)

    def test_no_prompt_no_verdict_and_no_judgement_comes_of_it(self, run: Path) -> None:
        assert sorted(path.name for path in run.iterdir()) == [
            "examples.jsonl",
            "ledger.head.json",
            "ledger.jsonl",
            "run.lock",
        ]


@pytest.mark.parametrize("line", ["a|omit,a,omission,omit,,1.0\n", "a|clean,a,clean,clean,,1.0\n"])
def test_a_note_that_occurs_twice_is_refused_also_where_its_scores_agree(
    release: Path, tmp_path: Path, line: str
) -> None:
    (release / "x_accept_scores.csv").write_text(CSV + line, encoding="utf-8")
    with pytest.raises(InputError, match=r"x_accept_scores\.csv:6: note 'a\|(omit|clean)' occurs twice"):
        import_lineage("omissionbench", release, tmp_path / "run")
    assert not (tmp_path / "run").exists()

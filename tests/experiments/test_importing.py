"""``holdgate corpus import``, and plans that name a public corpus or a table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import read_plan
from experiments.loading import load_plan_corpus
from lineage.errors import CorpusError, PlanError
from splits import load_corpus
from splits.adapters import ADAPTERS

Holdgate = Callable[..., tuple[int, str, str]]
MakePlan = Callable[..., Path]

INSTANCES = [
    {
        "id": "Natural/0",
        "subset": "Natural",
        "input": "Name a colour.",
        "output_1": "Red.",
        "output_2": "A dog.",
        "label": 1,
    }
]
PAIR = {
    "pair_id": "aci|D1|add",
    "stratum": "aci",
    "id": "D1",
    "type": "add",
    "class": "add",
    "residual_level": None,
    "severity": "critical",
    "verified": True,
    "eval_set": True,
    "source": "frozen_add_change",
    "clean": "PLAN: rest.",
    "errored": "PLAN: rest. Aspirin.",
}


@pytest.fixture
def llmbar(tmp_path: Path) -> Path:
    path = tmp_path / "llmbar"
    path.mkdir()
    (path / "instances.jsonl").write_text("".join(json.dumps(row) + "\n" for row in INSTANCES))
    return path


def test_import_writes_our_format_and_says_what_was_done(holdgate: Holdgate, llmbar: Path, tmp_path: Path) -> None:
    status, out, _ = holdgate("corpus", "import", "llmbar", llmbar, "--out", tmp_path / "out")
    assert status == 0
    corpus = load_corpus(tmp_path / "out" / "corpus.jsonl")
    assert "llmbar: 1 groups, 2 examples, no facts" in out
    assert "clean candidate" in out
    assert "noted: better outputs are clean candidates (1: Natural/0)" in out
    assert "licence: MIT" in out
    assert f"attribution: {ADAPTERS['llmbar'].attribution}" in out
    assert f"corpus hash {corpus.hash}" in out
    kept = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert sorted(kept) == ["ATTRIBUTION.txt", "corpus.jsonl"]
    assert ADAPTERS["llmbar"].attribution in kept["ATTRIBUTION.txt"]
    assert "better outputs are clean candidates" in kept["ATTRIBUTION.txt"]


def test_import_writes_to_the_name_by_default(
    holdgate: Holdgate, llmbar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert holdgate("corpus", "import", "llmbar", llmbar)[0] == 0
    assert (tmp_path / "here" / "llmbar" / "corpus.jsonl").is_file()


@pytest.mark.parametrize("name", ["corpus.jsonl", "facts.jsonl", "ATTRIBUTION.txt"])
def test_import_never_overwrites(name: str, holdgate: Holdgate, llmbar: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    status, _, err = holdgate("corpus", "import", "llmbar", llmbar, "--out", tmp_path / "out")
    assert status == 2
    assert f"{name}: is there already; remove it, or give another directory (--out)" in err
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_import_refuses_a_broken_file_and_writes_nothing(holdgate: Holdgate, llmbar: Path, tmp_path: Path) -> None:
    (llmbar / "instances.jsonl").write_text(json.dumps(INSTANCES[0])[:60])
    status, _, err = holdgate("corpus", "import", "llmbar", llmbar, "--out", tmp_path / "out")
    assert status == 2
    assert "instances.jsonl:1: is not JSON" in err
    assert not (tmp_path / "out").exists()


def test_help_lists_the_adapters_and_marks_the_unseen_one(holdgate: Holdgate) -> None:
    status, out, _ = holdgate("corpus", "import", "--help")
    assert status == 0
    for name, adapter in ADAPTERS.items():
        (line,) = (line for line in out.splitlines() if line.split()[:1] == [name])
        assert line.endswith(adapter.summary)
        assert ("not run on the real file" in line) == (name == "omissionbench")


def test_import_says_that_the_adapter_was_not_run_on_the_real_file(holdgate: Holdgate, tmp_path: Path) -> None:
    (tmp_path / "transcripts" / "aci").mkdir(parents=True)
    (tmp_path / "transcripts" / "aci" / "D1.txt").write_text("Doctor: Rest.")
    (tmp_path / "dataset_v2.json").write_text(json.dumps({"pairs": [PAIR]}))
    status, out, _ = holdgate("corpus", "import", "omissionbench", tmp_path, "--out", tmp_path / "out")
    assert status == 0
    assert "This adapter was not run on the real file" in out
    assert "not run on the real file" in (tmp_path / "out" / "ATTRIBUTION.txt").read_text()


def test_a_plan_may_name_a_public_corpus(make_plan: MakePlan, llmbar: Path) -> None:
    path = make_plan(corpus={"adapter": "llmbar", "path": "../llmbar"})
    assert [e.id for e in load_plan_corpus(read_plan(path), path).examples] == ["Natural-0.better", "Natural-0.worse"]


def test_a_plan_may_name_a_table_with_its_columns(make_plan: MakePlan) -> None:
    columns = {"id": "note_id", "document": "text", "label": "bad", "group": "note_id"}
    values, labels = {"stratum": "all", "source": ""}, {0: "clean", 1: "commission"}
    table = {
        "table": "notes.txt",
        "format": "csv",
        "columns": columns,
        "values": values,
        "labels": labels,
        "meta": "all",
    }
    path = make_plan(corpus={**table, "facts": "facts.jsonl"})
    (path.parent / "notes.txt").write_text("note_id,text,bad,site\na,Rest.,0,x\nb,Run.,1,\n")
    fact = {"id": "f", "group": "a", "fact": "Rest.", "evidence": [], "severity": "critical", "core": True}
    (path.parent / "facts.jsonl").write_text(json.dumps(fact) + "\n")
    corpus = load_plan_corpus(read_plan(path), path)
    assert [(e.id, e.label, e.meta) for e in corpus.examples] == [
        ("a", "clean", {"site": "x"}),
        ("b", "commission", {"site": ""}),
    ]
    assert list(corpus.facts) == ["a"]


def test_a_plan_that_names_a_dataset_of_the_hub_needs_the_extra(
    make_plan: MakePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    path = make_plan(corpus={"huggingface": {"name": "some/name", "split": "test"}})
    with pytest.raises(CorpusError, match="optional extra"):
        load_plan_corpus(read_plan(path), path)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({}, r"corpus: give one of bundled, path, adapter, table, huggingface, got none"),
        ({"table": "a.csv", "path": "b"}, r"got path and table"),
        ({"adapter": "llmbar"}, r"an adapter needs path: the folder that it reads"),
        ({"adapter": "llmbar", "path": "a", "facts": "f"}, r"facts has no effect with adapter, which brings its own"),
        ({"path": "a", "format": "csv"}, r"format has no effect with path; remove it"),
        (
            {"bundled": "consults", "columns": {"id": "a"}},
            r"columns has no effect with bundled; remove it, or give a table",
        ),
        ({"table": "a.csv", "colums": {}}, r"unknown key 'corpus\.colums'; did you mean 'columns'"),
        ({"table": "a.csv", "format": "xlsx"}, r"corpus\.format"),
    ],
)
def test_a_corpus_section_that_contradicts_itself_is_refused(
    corpus: dict[str, Any], message: str, make_plan: MakePlan
) -> None:
    with pytest.raises(PlanError, match=message):
        read_plan(make_plan(corpus=corpus))


def test_a_column_that_the_table_lacks_is_named_when_the_plan_is_loaded(make_plan: MakePlan) -> None:
    path = make_plan(corpus={"table": "notes.csv", "columns": {"id": "notes_id"}})
    (path.parent / "notes.csv").write_text("note_id,document\na,Rest.\n")
    with pytest.raises(
        CorpusError, match=r"notes\.csv, field 'id': there is no column 'notes_id'; did you mean 'note_id'"
    ):
        load_plan_corpus(read_plan(path), path)


@pytest.fixture
def table_plan(tmp_path: Path) -> Path:
    """A plan on a table of fifteen consultations, in a folder of its own, whose lock is still to be made."""
    place = tmp_path / "mine"
    place.mkdir()
    rows = "".join(f"{n},g{n},{'x' * (n + 1)} {n}.,0\n{n}b,g{n},{'x' * (n + 1)}.,1\n" for n in range(15))
    (place / "notes.csv").write_text(f"note,id_of,text,bad\n{rows}")
    names = {"id": "note", "group": "id_of", "document": "text", "label": "bad"}
    corpus = {
        "table": "notes.csv",
        "columns": names,
        "values": {"stratum": "all", "source": ""},
        "labels": {0: "clean", 1: "omission"},
    }
    (place / "plan.yaml").write_text(json.dumps({"corpus": corpus, "url": "${NOT_SET_ANYWHERE}"}))
    return place / "plan.yaml"


def test_a_table_is_written_described_and_split_by_the_plan_that_names_it(
    holdgate: Holdgate, table_plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = holdgate("corpus", "import", table_plan)
    assert status == 0, err
    assert "plan: 15 groups, 30 examples, no facts" in out
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == ["corpus.jsonl"]
    kept = load_corpus(tmp_path / "plan" / "corpus.jsonl")
    status, out, _ = holdgate("corpus", "describe", table_plan)
    assert status == 0
    assert f"corpus hash {kept.hash}" in out
    lock = table_plan.parent / "split.lock.json"
    status, _, err = holdgate("split", "commit", lock, "--corpus", table_plan, "--sizes", "5,5,5", "--needs", "clean")
    assert status == 0, err
    assert json.loads(lock.read_text())["corpus_hash"] == kept.hash
    assert holdgate("split", "verify", lock, "--corpus", table_plan)[0] == 0
    assert holdgate("split", "verify", lock, "--corpus", "plan")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "{plan}", "folder"), "a plan names its files itself, so that PATH has no effect; remove it"),
        (("import", "llmbar"), "llmbar needs a PATH: the folder with instances.jsonl"),
        (("check", "{plan}"), "is a plan, and what is wanted is a corpus.jsonl; write the plan's corpus as one with"),
        (("describe", "{plan}", "--facts", "f"), "a plan names its own facts, so that --facts has no effect"),
        (("describe", "nowhere.yaml"), "nowhere.yaml: is not a readable YAML file"),
    ],
)
def test_what_a_plan_cannot_do_is_refused(
    arguments: tuple[str, ...], said: str, holdgate: Holdgate, table_plan: Path
) -> None:
    status, _, err = holdgate("corpus", *(word.format(plan=table_plan) for word in arguments))
    assert status == 2
    assert said in err


def test_a_plan_of_an_adapter_is_imported_as_the_adapter_is(
    holdgate: Holdgate, llmbar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text(json.dumps({"corpus": {"adapter": "llmbar", "path": "llmbar"}}))
    status, out, _ = holdgate("corpus", "import", "plan.yaml", "--out", "out")
    assert status == 0
    assert "licence: MIT" in out
    assert (tmp_path / "out" / "ATTRIBUTION.txt").is_file()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("[]", "has no section corpus"),
        ("{'name': 'x'}", "has no section corpus"),
        ("{'corpus': {'tabel': 'a.csv'}}", "plan.yaml: corpus: unknown key 'tabel'; did you mean 'table'"),
        ("{'corpus': [", "is not a readable YAML file"),
    ],
)
def test_a_plan_without_a_corpus_is_refused(data: str, said: str, holdgate: Holdgate, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(data)
    status, _, err = holdgate("corpus", "describe", tmp_path / "plan.yaml")
    assert status == 2
    assert said in err

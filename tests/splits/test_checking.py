"""Every planted defect is found at its place, beside all others, and a sound corpus has none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import CorpusError
from splits import Corpus, bundled_directory, load_corpus
from splits.checking import CheckedCorpus, check_corpus
from splits.corpus import example_row, fact_row
from splits.defects import Defect

Row = dict[str, Any]
Check = Callable[..., CheckedCorpus]


@pytest.fixture
def rows(consults: Corpus) -> list[Row]:
    """Two groups of the bundled corpus, as rows; the clean note of each goes first."""
    groups = (consults.groups[group] for group in ("tel-01", "uk-01"))
    return [example_row(ex) for group in groups for ex in sorted(group, key=lambda ex: ex.twin is not None)]


@pytest.fixture
def facts(consults: Corpus) -> list[Row]:
    """Their facts."""
    return [fact_row(fact) for group in ("tel-01", "uk-01") for fact in consults.facts[group]]


@pytest.fixture
def check(tmp_path: Path, facts: list[Row]) -> Check:
    """Write rows, or lines as they are, and check them."""

    def checked(rows: list[Row | bytes], stated: list[Row] | None = None, **options: Any) -> CheckedCorpus:
        corpus, beside = tmp_path / "corpus.jsonl", tmp_path / "facts.jsonl"
        corpus.write_bytes(b"".join(lines(rows)))
        beside.write_bytes(b"".join(lines(facts if stated is None else stated)))
        return check_corpus(corpus, facts=beside, **options)

    return checked


def lines(rows: list[Any]) -> list[bytes]:
    return [row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows]


def told(found: CheckedCorpus) -> list[tuple[str, str, str, int | None, str | None]]:
    return [(d.severity, d.kind, Path(d.file).name, d.line, d.field) for d in found.defects]


def of_kind(found: CheckedCorpus, kind: str) -> list[Defect]:
    return [defect for defect in found.defects if defect.kind == kind]


def test_the_bundled_corpus_has_no_defect(consults: Corpus) -> None:
    directory = bundled_directory("consults")
    found = check_corpus(directory / "corpus.jsonl", facts=directory / "facts.jsonl")
    assert found == CheckedCorpus((), len(consults.examples), 60, 511, consults.hash)
    assert found.errors == 0


def test_a_part_of_it_has_none_either(check: Check, rows: list[Row]) -> None:
    assert told(check(rows)) == []


def changed(rows: list[Row], at: int, **fields: Any) -> list[Row]:
    return [row | fields if number == at else row for number, row in enumerate(rows)]


def test_every_broken_rule_of_a_row_is_named_not_only_the_first(check: Check, rows: list[Row]) -> None:
    broken = changed(rows, 1, label="omision", severity="grave", trace="gone", cohort=3, meta=[], extra=1, stratum=" ")
    found = check(broken)
    assert {(d.line, d.field) for d in found.defects} == {
        (2, name) for name in ("label", "severity", "trace", "cohort", "meta", "extra", "stratum")
    }
    assert found.hash is None


def test_every_residual_outside_its_document_is_named(check: Check, rows: list[Row]) -> None:
    mentions = [{"offset": at, "heading": "PLAN", "strength": "partial"} for at in (-1, 0, 99_999)]
    found = check(changed(rows, 1, residual=mentions))
    assert [d.words for d in found.defects] == [f"offset {at} lies outside the document" for at in (-1, 99_999)]


def test_lines_that_are_no_object_are_named_and_the_rest_is_read(check: Check, rows: list[Row]) -> None:
    found = check([*rows[:1], b"{bad\n", b"[1]\n", b'{"id": "a", "id": "b"}\n', b"\xff\n", b"\n", *rows[1:]])
    assert [(d.line, d.kind) for d in found.defects] == [(line, "format") for line in (2, 3, 4, 5)]
    assert found.examples == len(rows) + 4


def test_a_duplicate_id_is_named_with_both_lines(check: Check, rows: list[Row]) -> None:
    found = check(changed(rows, 3, id=rows[2]["id"]))
    (defect,) = of_kind(found, "duplicate id")
    assert (defect.line, defect.field) == (4, "id")
    assert "also stands on line 3" in defect.words


def test_missing_wrong_and_nameless_twins_are_named(check: Check, rows: list[Row]) -> None:
    other = next(row["id"] for row in rows if row["group"] == "uk-01" and row["label"] == "clean")
    flawed = rows[2]["id"]
    planted = [rows[0], rows[1] | {"twin": "nobody"}, rows[2] | {"twin": other}, rows[3] | {"twin": None}, *rows[4:]]
    found = check(planted)
    assert [(d.severity, d.kind, d.line) for d in found.defects if d.field == "twin"] == [
        ("error", "missing twin", 2),
        ("error", "wrong twin", 3),
        ("warning", "missing twin", 4),
    ]
    flawed_twin = check(changed(rows, 1, twin=flawed))
    assert "a twin is a clean example" in of_kind(flawed_twin, "wrong twin")[0].words


def test_labels_without_any_twin_are_no_defect(check: Check, rows: list[Row]) -> None:
    assert told(check([row | {"twin": None} for row in rows])) == []


def test_a_flaw_that_changes_nothing_is_an_error_and_one_of_punctuation_a_warning(
    check: Check, rows: list[Row]
) -> None:
    clean = rows[0]["document"]
    planted = changed(changed(rows, 1, document=clean, residual=[]), 2, document=clean.upper() + "!", residual=[])
    assert [row for row in told(check(planted)) if row[1] == "identical twins"] == [
        ("error", "identical twins", "corpus.jsonl", 2, "document"),
        ("warning", "identical twins", "corpus.jsonl", 3, "document"),
    ]


def test_a_twin_on_another_source_and_a_group_in_two_strata_are_named(check: Check, rows: list[Row]) -> None:
    found = check(changed(rows, 1, source="Quite another conversation.", stratum="elsewhere"), [])
    assert [(d.kind, d.line) for d in found.defects if d.line == 2 and d.field in ("source", "stratum")] == [
        ("stratum", 2),
        ("other source", 2),
    ]


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        ("fever &amp; chills", "HTML escape"),
        ("it isnâ€™t so", "mojibake"),
        ("lost \ufffd", "replacement character"),
        ("bell \x07", "control character"),
    ],
)
def test_spoilt_texts_are_warnings_and_a_source_is_told_of_once_a_group(
    check: Check, rows: list[Row], planted: str, kind: str
) -> None:
    spoilt = [row | {"source": f"{row['source']} {planted}"} if row["group"] == "uk-01" else row for row in rows]
    first = next(number for number, row in enumerate(rows, start=1) if row["group"] == "uk-01")
    assert told(check(spoilt)) == [("warning", kind, "corpus.jsonl", first, "source")]
    document = changed(rows, 0, document=f"{rows[0]['document']} {planted}")
    assert ("warning", kind, "corpus.jsonl", 1, "document") in told(check(document))


@pytest.mark.parametrize("field", ["document", "id", "group"])
def test_an_empty_text_is_named(check: Check, rows: list[Row], field: str) -> None:
    found = check(changed(rows, 0, **{field: "  "}))
    assert ("error", "empty text", "corpus.jsonl", 1, field) in told(found)


def test_the_same_source_in_two_groups_is_an_error_and_is_told_once(check: Check, rows: list[Row]) -> None:
    shared = [row | {"source": rows[0]["source"]} for row in rows]
    found = of_kind(check(shared, []), "text in two groups")
    first = next(number for number, row in enumerate(rows, start=1) if row["group"] == "uk-01")
    assert [(d.severity, d.line, d.field) for d in found] == [("error", first, "source")]
    assert "of line 1, in group 'tel-01' instead of 'uk-01'" in found[0].words
    assert of_kind(check(shared, []), "near-duplicate") == []


def test_near_duplicates_across_groups_are_a_warning_and_twins_are_none(check: Check, rows: list[Row]) -> None:
    near = rows[0]["source"].replace("doctor", "physician").replace("Patient: Yeah", "Patient: Yes")
    planted = [row if row["group"] == "tel-01" else row | {"source": near} for row in rows]
    (found,) = of_kind(check(planted, []), "near-duplicate")
    assert found.severity == "warning"
    assert "of a text on line 1; keep the groups 'tel-01' and 'uk-01' in one split" in found.words
    assert of_kind(check(planted, [], threshold=1.0), "near-duplicate") == []


def test_short_texts_may_be_equal(check: Check, rows: list[Row]) -> None:
    short = [row | {"source": "No answer."} for row in rows]
    assert [d.severity for d in check(short, []).defects if d.field == "source"] == ["warning"]


def test_short_documents_may_be_given_to_two_sources(check: Check, rows: list[Row]) -> None:
    short = [row | {"document": "Nothing to report.", "twin": None, "residual": []} for row in rows]
    assert told(check(short)) == []


def test_the_facts_of_a_group_that_is_not_there_are_told_once(check: Check, rows: list[Row], facts: list[Row]) -> None:
    (found,) = check([row for row in rows if row["group"] == "tel-01"]).defects
    first, *others = (number for number, fact in enumerate(facts, start=1) if fact["group"] == "uk-01")
    assert (found.kind, Path(found.file).name, found.line) == ("unknown group", "facts.jsonl", first)
    assert found.words == f"group 'uk-01' has no example in the corpus, and {1 + len(others)} fact(s) here"


def test_facts_are_checked_one_by_one(check: Check, rows: list[Row], facts: list[Row]) -> None:
    planted = [
        facts[0] | {"evidence": ["He never said that."]},
        facts[1] | {"evidence": []},
        facts[2] | {"evidence": [facts[2]["evidence"][0].upper()]},
        facts[3] | {"id": facts[2]["id"]},
        facts[4] | {"severity": "grave", "core": 1},
        facts[5] | {"fact": "fever &amp; chills"},
        {**facts[6], "extra": 1},
        {name: value for name, value in facts[7].items() if name != "evidence"},
        {**facts[0], "group": "nowhere", "id": "f99"},
        *facts[8:],
    ]
    found = check(rows, planted)
    assert [row for row in told(found) if row[2] == "facts.jsonl"] == [
        ("error", "no evidence", "facts.jsonl", 1, "evidence"),
        ("warning", "no evidence", "facts.jsonl", 2, "evidence"),
        ("warning", "no evidence", "facts.jsonl", 3, "evidence"),
        ("error", "duplicate id", "facts.jsonl", 4, "id"),
        ("error", "format", "facts.jsonl", 5, "severity"),
        ("error", "format", "facts.jsonl", 5, "core"),
        ("warning", "HTML escape", "facts.jsonl", 6, "fact"),
        ("error", "format", "facts.jsonl", 7, "extra"),
        ("error", "format", "facts.jsonl", 8, "evidence"),
        ("error", "unknown group", "facts.jsonl", 9, "group"),
    ]


def test_facts_of_which_none_quotes_evidence_are_one_warning(check: Check, rows: list[Row], facts: list[Row]) -> None:
    found = check(rows, [fact | {"evidence": []} for fact in facts])
    assert told(found) == [("warning", "no evidence", "facts.jsonl", None, "evidence")]
    assert f"none of the {len(facts)} facts quotes evidence" in found.defects[0].words


def test_the_same_document_in_two_groups_is_a_warning(check: Check, rows: list[Row]) -> None:
    clean = [number for number, row in enumerate(rows) if row["label"] == "clean"]
    (found,) = of_kind(check(changed(rows, clean[1], document=rows[0]["document"])), "text in two groups")
    assert (found.severity, found.line, found.field) == ("warning", clean[1] + 1, "document")


def test_a_flaw_on_a_fact_that_its_group_does_not_have_is_an_error(check: Check, rows: list[Row]) -> None:
    (found,) = check(changed(rows, 1, fact="f42")).defects
    assert (found.severity, found.kind, found.line, found.field) == ("error", "unknown fact", 2, "fact")


def test_a_missing_file_is_an_error_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such corpus file"):
        check_corpus(tmp_path / "nowhere.jsonl")


def test_an_empty_file_is_not_sound(check: Check) -> None:
    (found,) = check([], []).defects
    assert "holds no example" in found.words


def test_the_json_form_counts_and_lists(check: Check, rows: list[Row]) -> None:
    row = check(changed(rows, 0, document="")).row()
    assert (row["errors"], row["groups"], row["examples"], row["corpus_hash"]) == (1, 2, len(rows), None)
    assert row["defects"][0]["line"] == 1
    json.dumps(row)


values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=2))
anything = st.dictionaries(
    st.sampled_from(["id", "group", "stratum", "source", "document", "label", "twin", "residual", "meta", "other"]),
    values,
    max_size=10,
)


@given(planted=st.lists(anything, max_size=4))
@settings(max_examples=30, deadline=None)
def test_a_check_names_an_error_exactly_where_loading_refuses(
    planted: list[Mapping[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "corpus.jsonl"
    path.write_bytes(b"".join(lines(list(planted))))
    found = check_corpus(path)
    refused: CorpusError | None = None
    try:
        load_corpus(path)
    except CorpusError as error:
        refused = error
    assert (found.hash is None) == (refused is not None)
    if refused is not None:
        assert refused.line in {defect.line for defect in found.defects if defect.severity == "error"}

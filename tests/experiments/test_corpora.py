"""``holdgate corpus``: what it prints, writes and ends with."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.report.description import bars, description_page, description_pictures, notices, standalone
from experiments.report.markdown import markdown
from experiments.report.page import page
from splits import Corpus, save_corpus
from splits.describing import Lengths, describe

Holdgate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def little(consults: Corpus, tmp_path: Path) -> Path:
    """A directory with two groups of the bundled corpus, whose sources are near-duplicates."""
    source = consults.groups["tel-01"][0].source
    kept = [replace(ex, source=f"{source} Bye.") for ex in consults.groups["uk-01"]]
    facts = {group: consults.facts[group] for group in ("tel-01", "uk-01")}
    save_corpus(Corpus((*consults.groups["tel-01"], *kept), facts), tmp_path / "little")
    return tmp_path / "little"


def test_a_sound_corpus_ends_with_status_zero_and_its_hash(holdgate: Holdgate, consults: Corpus) -> None:
    status, out, _ = holdgate("corpus", "check", "consults")
    assert status == 0
    assert "60 groups, 328 documents, 511 facts; 0 errors, 0 warnings" in out
    assert f"corpus hash {consults.hash}" in out


def test_a_directory_is_checked_with_the_facts_in_it(holdgate: Holdgate, consults: Corpus, tmp_path: Path) -> None:
    save_corpus(consults, tmp_path)
    status, out, _ = holdgate("corpus", "check", tmp_path)
    assert status == 0
    assert "511 facts" in out


def test_a_directory_without_a_corpus_is_said_to_have_none(holdgate: Holdgate, tmp_path: Path) -> None:
    status, _, err = holdgate("corpus", "describe", tmp_path)
    assert status == 2
    assert f"{tmp_path}: there is no corpus.jsonl in this directory; name the file" in err


def test_every_defect_of_a_corpus_that_cannot_be_loaded_is_printed_with_status_two(
    holdgate: Holdgate, consults: Corpus, tmp_path: Path
) -> None:
    path, _ = save_corpus(consults, tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[3] = (
        lines[3].replace('"label":"omission"', '"label":"lost"').replace('"label":"commission"', '"label":"lost"')
    )
    lines[5] = "{"
    path.write_text("\n".join([*lines, lines[0]]) + "\n", encoding="utf-8")
    status, out, _ = holdgate("corpus", "check", path)
    assert status == 2
    for place in (f"{path}:4, field 'label'", f"{path}:6: is not JSON", f"{path}:329, field 'id'"):
        assert place in out
    assert "cannot be loaded" in out
    status, out, _ = holdgate("corpus", "check", path, "--json")
    found = json.loads(out)
    assert status == 2
    assert found["errors"] == len([defect for defect in found["defects"] if defect["severity"] == "error"]) == 3


def test_a_warning_alone_changes_no_status(holdgate: Holdgate, consults: Corpus, tmp_path: Path) -> None:
    first = replace(consults.examples[0], document=consults.examples[0].document + " [b]&amp;[/b]")
    path, _ = save_corpus(Corpus((first, *consults.examples[1:]), {}), tmp_path)
    status, out, _ = holdgate("corpus", "check", path)
    assert status == 0
    assert "holds the HTML escape &amp; for '&'" in out
    assert "[b]&amp;[/b]" in out, "what a text holds is no markup"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--similarity", "40"), "threshold is a Jaccard similarity in (0, 1], got 40.0"),
        (("--similarity", "0.5", "--no-near-duplicates"), "--similarity has no effect with --no-near-duplicates"),
    ],
)
def test_a_similarity_that_cannot_be_meant_is_refused_in_one_line(
    options: tuple[str, ...], said: str, holdgate: Holdgate, little: Path
) -> None:
    status, _, err = holdgate("corpus", "check", little, *options)
    assert status == 2
    assert said in err


def test_near_duplicates_are_looked_for_unless_it_is_said_otherwise(holdgate: Holdgate, little: Path) -> None:
    _, out, _ = holdgate("corpus", "check", little)
    assert "--unite near-duplicates" in out
    _, out, _ = holdgate("corpus", "check", little, "--no-near-duplicates")
    assert "--unite near-duplicates" not in out
    assert "near-duplicates were not looked for" in out


def test_a_description_is_printed_with_tables_and_bars(holdgate: Holdgate) -> None:
    status, out, _ = holdgate("corpus", "describe", "consults")
    assert status == 0
    for words in (
        r"consults: 60 groups, 328 documents",
        r"trace\s+\S\s+partial-weak\s+\S\s+50 \S\s+50",
        r"clean\s+\S\s+verified\s+\S\s+60 \S\s+60",
        r"omission documents\s+\S\s+165",
        r"268 with a twin, 0 without",
        r"commission: words in only one of both",
        r"facts of a group\s+\S\s+60 \S\s+8 \S\s+9",
        r"125 to 129\s+\u2588+\S* 10\s+\u2588+ 35",
    ):
        assert re.search(words, out), words


def test_a_description_is_written_as_a_page_a_drawing_and_json(holdgate: Holdgate, tmp_path: Path) -> None:
    html, svg = tmp_path / "about.html", tmp_path / "about.svg"
    status, out, _ = holdgate("corpus", "describe", "consults", "--html", html, "--svg", svg, "--json")
    assert status == 0
    assert json.loads(out)["twinned"] == {"with a twin": 268, "without": 0}
    text = html.read_text(encoding="utf-8")
    assert "Holdgate description of corpus consults" in text
    assert "report of campaign" not in text
    drawn = svg.read_text(encoding="utf-8")
    for written in (text, drawn):
        outside = written.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|<script|@import|url\((?!#)", outside)
    root = ET.fromstring(drawn)
    titles = [node.text for node in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["Words of the documents", "Words of the sources"]
    ids = [node.attrib["id"] for node in root.iter() if "id" in node.attrib]
    assert len(ids) == len(set(ids))


def test_equal_corpora_give_equal_bytes(consults: Corpus) -> None:
    shuffled = Corpus(tuple(reversed(consults.examples)), consults.facts)
    one, two = (standalone(description_pictures(describe(corpus))) for corpus in (consults, shuffled))
    assert one == two
    assert page(description_page("c", describe(consults))) == page(description_page("c", describe(shuffled)))


def test_candidates_and_missing_twins_are_said_first(consults: Corpus) -> None:
    examples = [replace(ex, twin=None, meta={"clean": "candidate"}) for ex in consults.examples]
    found = describe(Corpus(tuple(examples), {}))
    said = notices(found)
    assert said[0].startswith("60 of 60 clean documents are only clean candidates")
    assert said[1].startswith("268 flawed documents have no twin")
    assert notices(describe(consults)) == []
    written = page(description_page("<b>", found))
    assert "&lt;b&gt;" in written
    assert "only clean candidates" in written
    assert "only clean candidates" in markdown(description_page("c", found))


def test_a_corpus_of_one_document_and_no_source_is_drawn(consults: Corpus) -> None:
    alone = Corpus((replace(consults.examples[0], source="", label="clean", kind="clean", twin=None),), {})
    found = describe(alone)
    assert found.sources == Lengths((), {"source": ()})
    ET.fromstring(standalone(description_pictures(found)))
    assert bars(found.sources) == []


@pytest.mark.parametrize(("count", "bar"), [(0, ""), (1, "\u258f"), (800, "\u2588" * 24), (400, "\u2588" * 12)])
def test_a_bar_is_as_long_as_its_share_and_never_empty_for_a_text(count: int, bar: str) -> None:
    found = Lengths((0, 10, 20), {"kind": (count, 800)})
    assert bars(found)[0] == ("0 to 9", f"{bar} {count or ''}")

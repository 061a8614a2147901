"""The report of a campaign: what it says, that it says it safely, and that it derives from the run directory alone."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from experiments.report import collect, write_report
from experiments.report.wording import price, word_difference
from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json
from lineage.errors import InputError, LedgerError
from lineage.ledger import GENESIS
from optimize import Campaign, parse_plan
from splits import Corpus, Selection, commit_lock, load_lock, plan_lock
from students import load_instruction

Body = dict[str, Any]


def simulate(corpus: Corpus, directory: Path, *, iterations: int) -> Path:
    selection = Selection(groups=13, flawed_per_group=3, seed=1)
    lock = plan_lock(corpus, sizes={"reflect": 4, "accept": 4, "heldout": 5}, seed=1, selection=selection)
    commit_lock(lock, directory / "tiny.lock.json")
    plan = parse_plan(
        {
            "name": "tiny",
            "corpus": {"bundled": "consults"},
            "splits": {"lock": "tiny.lock.json"},
            "student": {
                "shape": "per-fact",
                "model": {"simulated": {"noise": 2.0}},
                "budget": {"answer_tokens": 1},
                "max_facts": 3,
            },
            "baseline": "stated-in-note",
            "search": {"iterations": iterations, "minibatch_groups": 2, "seed": 2},
        },
        where="test",
    )
    locked = load_lock(directory / "tiny.lock.json", corpus)
    Campaign(plan, corpus, locked, directory / "run", baseline=load_instruction(plan.baseline)).run()
    return directory / "run"


@pytest.fixture(scope="session")
def searched(consults: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(consults, tmp_path_factory.mktemp("searched"), iterations=6)


@pytest.fixture(scope="session")
def unsearched(consults: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(consults, tmp_path_factory.mktemp("unsearched"), iterations=0)


@pytest.fixture
def run(searched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(searched, tmp_path / "run"))


def rewritten(run: Path, change: Callable[[str, Body], None]) -> Path:
    """The run directory of a campaign in which other things were recorded, whole and chained."""
    events = [json.loads(line) for line in (run / "ledger.jsonl").read_text(encoding="utf-8").splitlines()]
    prev = GENESIS
    for event in events:
        change(event["type"], event["body"])
        event["prev"] = prev
        prev = event["hash"] = digest({key: value for key, value in event.items() if key != "hash"})
    (run / "ledger.jsonl").write_text("".join(canonical_json(event) + "\n" for event in events), encoding="utf-8")
    head = {"count": len(events), "hash": prev}
    (run / "ledger.head.json").write_text(pretty_json(head), encoding="utf-8")
    verdict = next(event["body"]["verdict"] for event in events if event["type"] == "verdict")
    (run / "verdict.json").write_text(pretty_json({**verdict, "ledger_head": head}), encoding="utf-8")
    return run


def verdict_with(**fields: Any) -> Callable[[str, Body], None]:
    def change(kind: str, body: Body) -> None:
        if kind == "verdict":
            body["verdict"].update(fields)

    return change


def texts(run: Path) -> tuple[str, str]:
    paths = write_report(run)
    return paths.html.read_text(encoding="utf-8"), paths.markdown.read_text(encoding="utf-8")


class Outline(HTMLParser):
    """Headings, tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "line", "rect", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, name: str) -> list[Mapping[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == name]


def test_equal_ledgers_give_equal_bytes_wherever_they_lie(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "elsewhere" / "another name")
    assert texts(run) == texts(other)
    assert texts(run) == texts(run)


def test_the_report_needs_nothing_but_the_run_directory(run: Path) -> None:
    for path in run.iterdir():
        if path.name not in ("ledger.jsonl", "ledger.head.json", "verdict.json", "examples.jsonl", "judgements"):
            path.unlink()
    page, _ = texts(run)
    assert "<h1>" in page


def test_the_decision_and_its_reason_come_first(run: Path) -> None:
    verdict = json.loads((run / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["decision"] == "refuse"
    page, text = texts(run)
    name = collect(run).proposal(verdict["winner"]).name
    assert text.startswith(f"# No prompt is emitted: {name} did not pass the gate\n")
    assert page.index("did not pass the gate") < page.index(verdict["reason"]) < page.index("<h2")
    assert "confirmatory comparison 1 of 1" in text
    assert "two-sided alpha 0.05" in text
    assert "5 held-out groups cannot confirm a moderate gain" in text


def test_a_simulated_campaign_is_marked_before_any_number(run: Path) -> None:
    for report in texts(run):
        assert report.index("SIMULATED: the judge is a formula") < report.index("Why: ")


def test_a_real_campaign_is_not_marked_simulated(run: Path) -> None:
    for report in texts(rewritten(run, verdict_with(simulated=False))):
        assert "SIMULATED" not in report


def test_an_exploratory_campaign_confirms_nothing(run: Path) -> None:
    changed = rewritten(run, verdict_with(confirmatory=False, exploratory="a trial", comparison=None))
    for report in texts(changed):
        assert "EXPLORATORY, confirms nothing. The reason given: a trial" in report
        assert "an exploratory campaign confirms nothing" in report
        assert "It took no place among the confirmatory comparisons" in report


@pytest.mark.parametrize(("decision", "title"), [("emit", "A prompt is emitted"), ("undecided", "Undecided")])
def test_every_decision_has_its_title(run: Path, decision: str, title: str) -> None:
    _, text = texts(rewritten(run, verdict_with(decision=decision)))
    assert text.startswith(f"# {title}")


def test_nothing_found_is_a_whole_report(unsearched: Path) -> None:
    page, text = texts(unsearched)
    assert text.startswith("# Nothing better was found: the baseline stays\n")
    assert "No confirmatory comparison was made or spent" in text
    assert "5 held-out groups could not have confirmed a moderate gain" in text
    assert "The gate was not read" in text
    assert "Winner c" not in page


def test_flags_on_heldout_are_those_that_the_gate_counted(run: Path) -> None:
    data = collect(run)
    row = data.verdict["heldout"]["false_alarms"]
    for arm, rate in ((data.winner, row["candidate"]), (data.baseline, row["baseline"])):
        assert arm.false_alarms.flagged / arm.false_alarms.of == pytest.approx(rate)


def test_measures_read_back_are_those_that_the_ledger_recorded(run: Path) -> None:
    data = collect(run)
    omissions = data.verdict["heldout"]["omissions"]
    assert data.winner.measures["omissions"]["value"] == pytest.approx(omissions["candidate"])
    assert data.baseline.measures["omissions"]["value"] == pytest.approx(omissions["baseline"])
    for row in data.choice["ranking"]:
        assert data.accept[row["candidate"]].measures["omissions"]["value"] == pytest.approx(row["paired"])


@pytest.mark.parametrize(
    ("plain", "said"),
    [(2.0, "Yes: plain word overlap"), (-1.0, "No: the student"), (None, "Not measured")],
)
def test_word_overlap_is_answered_honestly_either_way(run: Path, plain: float | None, said: str) -> None:
    def change(kind: str, body: Body) -> None:
        if kind == "word_overlap":
            body["omissions"]["by_trace"]["complete"] = {"value": plain, "pairs": 3}

    _, text = texts(rewritten(run, change))
    assert f"does plain word overlap beat the student? {said}" in text


def test_every_proposal_is_shown_with_its_text(run: Path) -> None:
    data = collect(run)
    page, text = texts(run)
    assert len(data.proposals) == 7
    assert {"rejected", "seed"} <= {proposal.outcome for proposal in data.proposals}
    for proposal in data.proposals:
        assert f"<summary>{proposal.name}: {proposal.outcome}" in page
        assert f"```text\n{proposal.text}\n```" in text


def test_an_invalid_proposal_without_an_instruction_shows_the_answer(run: Path) -> None:
    names: list[str] = []

    def change(kind: str, body: Body) -> None:
        if kind == "reflection":
            body["reflection"]["answer"] = "I cannot."
        if kind == "candidate" and body["iteration"] == 1:
            names.append(body["candidate"])
            body["texts"]["instruction"] = ""
        if kind == "outcome" and body["candidate"] in names:
            body.update(outcome="invalid", reason="empty answer", parent_rewards={}, child_rewards={})

    _, text = texts(rewritten(run, change))
    assert "The outcome: invalid, empty answer" in text
    assert "```text\nI cannot.\n```" in text


def test_text_of_the_run_is_never_markup(run: Path) -> None:
    hostile = '<script>alert("x")</script> ```` | <img src=http://x> & **bold**'

    def change(kind: str, body: Body) -> None:
        if kind == "candidate":
            body["texts"]["instruction"] = hostile
        if kind == "evaluation":
            body["failures"] = [hostile]
        if kind == "verdict":
            body["verdict"]["reason"] = hostile

    page, text = texts(rewritten(run, change))
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert f"`````text\n{hostile}\n`````" in text
    outside = re.sub(r"(`{3,})text\n.*?\n\1", "", text, flags=re.DOTALL)
    assert "<script" not in outside
    assert all(line.count(" | ") < 9 for line in outside.splitlines())


def test_the_page_asks_for_nothing_when_opened(run: Path) -> None:
    page, _ = texts(run)
    outline = Outline(page)
    assert "default-src 'none'" in page
    assert not [tag for tag, _ in outline.tags if tag in ("script", "img", "iframe", "object", "image", "use")]
    assert [attrs["href"] for attrs in outline.all("link")] == ["data:,"]
    assert all((attrs["href"] or "").startswith("#") for attrs in outline.all("a"))
    assert not re.search(r"https?://|@import|url\((?!#)", page)


def test_the_page_can_be_read_by_ear_and_by_keyboard(run: Path) -> None:
    page, _ = texts(run)
    outline = Outline(page)
    assert not [tag for tag in outline.open if tag not in ("html", "body")]
    assert outline.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(outline.all("caption")) == len(outline.all("table"))
    assert all(attrs.get("scope") in ("col", "row") for attrs in outline.all("th"))
    assert all(
        attrs.get("tabindex") == "0" and attrs.get("aria-label") for attrs in outline.all("div") if "role" in attrs
    )
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for picture in outline.all("svg"):
        assert picture["role"] == "img"
        assert set((picture["aria-labelledby"] or "").split()) <= set(ids)
    assert len(outline.all("svg")) == len(outline.all("desc")) == len(outline.all("figure")) > 10


def test_spend_says_why_there_is_no_price(run: Path) -> None:
    _, text = texts(run)
    assert "no price (simulated)" in text
    local = {"local": "m", "hosted": None, "endpoint": None, "simulated": None}
    assert price({"cost_usd": None}, local) == "no price (local)"
    assert price({"cost_usd": None}, {**local, "local": None, "hosted": "a/b"}) == "price unknown"
    assert price({"cost_usd": 0.25}, local) == "0.2500"


def test_the_reflector_is_named(run: Path) -> None:
    _, text = texts(run)
    assert "Reflector: offline edit operators; no reflector model" in text


def test_a_word_difference_keeps_both_texts() -> None:
    parts = word_difference("judge the note\nnow", "judge each note\nnow please")
    assert parts == (
        ("same", "judge"),
        ("removed", "the"),
        ("added", "each"),
        ("same", "note \n now"),
        ("added", "please"),
    )


def test_a_fresh_baseline_shows_the_drift_of_the_first(run: Path) -> None:
    assert collect(run).drift is None

    segment = next((run / "judgements").glob("*-confirm.jsonl"))
    baseline = collect(run).verdict["baseline"]
    first = next((run / "judgements").glob("*-baseline.jsonl")).read_text(encoding="utf-8")
    text = segment.read_text(encoding="utf-8") + first
    segment.write_text(text, encoding="utf-8")
    seal = digest_bytes(text.encode("utf-8"))

    def both(kind: str, body: Body) -> None:
        if kind == "evaluation" and body["purpose"] == "confirm":
            body["candidates"].append(baseline)
            body["segment"]["volatile"]["sha256"] = seal

    _, report = texts(rewritten(run, both))
    assert "Drift: the baseline measured before the search" in report


def test_a_directory_without_a_ledger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no ledger\.jsonl"):
        write_report(tmp_path)


@pytest.mark.parametrize("name", ["verdict.json", "examples.jsonl", "judgements/*-accept.jsonl"])
def test_an_edited_file_is_refused(run: Path, name: str) -> None:
    path = sorted(run.glob(name))[0]
    path.write_text(path.read_text(encoding="utf-8").replace("0", "1", 1), encoding="utf-8")
    with pytest.raises((LedgerError, InputError), match=path.name.split("-")[0]):
        write_report(run)

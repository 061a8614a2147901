"""Reports in a real browser without network: nothing asked for, nothing to complain of, nothing wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.report import write_report

OpenPage = Callable[..., Any]

pytestmark = pytest.mark.integration

SECTIONS = (
    "Winner against baseline",
    "Optimism and frontier",
    "Gate",
    "What the gate, the search and the judges rejected",
    "Operating points",
    "Discrimination by trace and severity",
    "Scores of clean and flawed documents",
    "Score compression",
    "Budget and cost ladders",
    "Accuracy by type of question",
    "Family of candidates",
    "Denominators",
    "Deviations from the plan",
    "Departures from published GEPA",
)


def looked_at(page: Path, open_page: OpenPage, *, pictures: int) -> Any:
    """A page that is whole at every width, on paper and in the dark; returns it as a phone shows it."""
    for options in ({"width": 1280}, {"width": 690, "media": "print"}, {"width": 390, "dark": True}):
        opened = open_page(page, **options)
        assert opened.said == []
        assert opened.asked == []
        assert opened.sideways == 0
        assert opened.page.locator("figure svg[role=img]").count() >= pictures
        for picture in opened.page.locator("svg").all():
            box = picture.bounding_box()
            assert box["width"] > 200
            assert box["height"] > 40
            assert box["x"] + box["width"] <= options["width"]
    return opened


def test_a_finished_campaign_opens_with_its_decision_first_and_every_section(
    finished: Path, open_page: OpenPage
) -> None:
    opened = looked_at(write_report(finished).html, open_page, pictures=12)
    names = opened.names()
    assert names[0].startswith("A prompt is emitted")
    assert set(SECTIONS) <= set(names)
    assert opened.page.locator("table").count() == opened.page.locator("table caption").count() > 20
    opened.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert opened.sideways == 0


def test_paper_shows_what_a_screen_folds(finished: Path, open_page: OpenPage) -> None:
    page = write_report(finished).html
    folded = (
        "[...document.querySelectorAll('details table')]"
        ".filter(part => part.checkVisibility({contentVisibilityAuto: true})).length"
    )
    assert open_page(page).page.evaluate(folded) == 0
    printed = open_page(page, media="print").page
    assert printed.evaluate(folded) == printed.locator("details table").count() > 10
    assert not printed.locator("nav").is_visible()


def test_the_keyboard_reaches_the_content_first_and_then_the_sections(finished: Path, open_page: OpenPage) -> None:
    page = open_page(write_report(finished).html).page
    focused = "document.activeElement.getAttribute('href')"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "#content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "#comparison"


def test_an_imported_campaign_shows_the_published_figures(published: Path, open_page: OpenPage) -> None:
    opened = looked_at(write_report(published).html, open_page, pictures=8)
    assert opened.names()[0] == "As published, no prompt was emitted: pipeline, mono"
    text = opened.page.locator("body").inner_text()
    for figure in ("0.8438", "0.7917", "0.8015", "0.7786", "0.6221", "0.0265", "0.38331032", "31 rightly, 14 level"):
        assert figure in text


def test_a_judging_run_opens(judged: Path, open_page: OpenPage) -> None:
    opened = looked_at(write_report(judged).html, open_page, pictures=7)
    assert opened.names()[0].startswith("No search: ")


def test_an_unfinished_campaign_opens(cut: Path, open_page: OpenPage) -> None:
    opened = looked_at(write_report(cut).html, open_page, pictures=1)
    assert opened.names()[0] == "No decision yet: it is searching"

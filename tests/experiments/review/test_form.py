"""The form is one page without a request, and can be answered by keyboard alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from experiments.review import Pack, PackSizes, ReviewedRun, draw_items, form, make_pack, read_answers
from experiments.review.questions import QUESTIONS
from tests.experiments.review.conftest import SALT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.conftest import OpenedPage

OpenPage = Callable[..., "OpenedPage"]


class Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="session")
def small(reviewed: ReviewedRun) -> Pack:
    """A pack of four items."""
    draw = draw_items(reviewed, sizes=PackSizes(2, 1, 1), rng=np.random.default_rng(5))
    return make_pack(reviewed, draw, seed=5, salt=SALT)


def test_every_control_has_a_label_and_every_group_a_question(pack: Pack) -> None:
    elements = Elements(form(pack.content, pack.key.pack)).found
    labelled = {attrs["for"] for tag, attrs in elements if tag == "label"}
    controls = [attrs["id"] for tag, attrs in elements if tag in ("input", "textarea")]
    assert set(controls) == labelled
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    fieldsets = sum(tag == "fieldset" for tag, _ in elements)
    assert fieldsets == sum(tag == "legend" for tag, _ in elements) == len(pack.key.items)
    for tag, attrs in elements:
        if tag == "pre":
            assert (attrs["tabindex"], attrs["role"]) == ("0", "region")
            assert attrs["aria-label"]


def test_each_item_offers_the_answers_of_its_question_and_an_abstention(pack: Pack) -> None:
    elements = Elements(form(pack.content, pack.key.pack)).found
    for name, item in pack.key.items.items():
        values = [attrs["value"] for tag, attrs in elements if tag == "input" and attrs.get("name") == name]
        assert values == [value for value, _ in QUESTIONS[item["section"]].answers]
        assert values[-1] == "cannot-tell"


def test_nothing_is_loaded_and_no_text_runs(pack: Pack) -> None:
    content: dict[str, Any] = json.loads(json.dumps(pack.content))
    content["sections"][0]["items"][0]["document"] = "<script>alert(1)</script><img src=http://x.example/a.png>"
    page = form(content, pack.key.pack)
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    assert "default-src 'none'" in page
    assert "unsafe-inline" not in page


def answer_by_keyboard(page: Page, wanted: dict[str, int], reviewer: str) -> None:
    """Go through the page by Tab, choose each item's answer by its number, and come to the button that saves."""
    for _ in range(200):
        page.keyboard.press("Tab")
        place = page.evaluate("(({id, type, name}) => ({id, type, name}))(document.activeElement)")
        if place["id"] == "reviewer":
            page.keyboard.insert_text(reviewer)
        elif place.get("type") == "radio":
            number = wanted[place["name"]]
            page.keyboard.press(" " if number == 0 else "ArrowDown")
            for _ in range(number - 1):
                page.keyboard.press("ArrowDown")
        elif place["id"].endswith("-note"):
            page.keyboard.insert_text(f"note on {place['id'].removesuffix('-note')}")
        elif place["id"] == "save":
            return
    raise AssertionError("the page has no end")


@pytest.mark.integration
def test_the_form_is_answered_by_keyboard_on_a_phones_width_and_its_file_is_read(
    small: Pack, tmp_path: Path, open_page: OpenPage
) -> None:
    path, saved = tmp_path / "pack.html", tmp_path / "answers.json"
    path.write_text(form(small.content, small.key.pack), encoding="utf-8")
    wanted = {
        name: number % len(QUESTIONS[item["section"]].answers)
        for number, (name, item) in enumerate(small.key.items.items())
    }
    opened = open_page(path, width=390)
    page, progress = opened.page, opened.page.locator("#progress")
    assert opened.sideways == 0
    assert progress.inner_text() == "0 of 4 answered."
    answer_by_keyboard(page, wanted, "Ada Lovelace")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    name = f"answers-{small.key.pack[:8]}-Ada-Lovelace.json"
    assert download.value.suggested_filename == name
    assert progress.inner_text() == f"Saved to {name}. 4 of 4 answered."
    assert page.locator(".item.answered").count() == 4
    download.value.save_as(saved)
    page.reload()
    assert progress.inner_text() == "4 of 4 answered."
    answers = read_answers(saved, small.key)
    assert answers.reviewer == "Ada Lovelace"
    assert answers.given == {
        name: QUESTIONS[small.key.items[name]["section"]].answers[number][0] for name, number in wanted.items()
    }
    assert answers.notes == {name: f"note on {name}" for name in wanted}
    assert opened.said == []
    assert not [url for url in opened.asked if not url.startswith(("data:", "blob:"))]


@pytest.mark.integration
def test_saving_without_a_name_asks_for_it_and_saves_nothing(small: Pack, tmp_path: Path, open_page: OpenPage) -> None:
    path = tmp_path / "pack.html"
    path.write_text(form(small.content, small.key.pack), encoding="utf-8")
    page = open_page(path).page
    downloads: list[str] = []
    page.on("download", lambda download: downloads.append(download.suggested_filename))
    page.fill("#reviewer", "  ")
    page.click("#save")
    assert page.locator("#progress").inner_text() == "Please give your name or initials first. 0 of 4 answered."
    assert page.evaluate("document.activeElement.id") == "reviewer"
    assert downloads == []

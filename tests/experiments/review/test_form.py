"""The form is one page without a request, and can be answered by keyboard alone."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.review import Pack, PackSizes, ReviewedRun, draw_items, form, make_pack, read_answers
from experiments.review.questions import QUESTIONS
from tests.experiments.review.browser import Page, opened
from tests.experiments.review.conftest import SALT

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


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


async def _answer_by_keyboard(page: Page, wanted: dict[str, int], reviewer: str) -> None:
    """Go through the page by Tab, choose each item's answer by its number, and save."""
    for _ in range(200):
        await page.press("Tab")
        place = json.loads(
            await page.value("JSON.stringify((({id, type, name}) => ({id, type, name}))(document.activeElement))")
        )
        if place["id"] == "reviewer":
            await page.send("Input.insertText", text=reviewer)
        elif place.get("type") == "radio":
            number = wanted[place["name"]]
            await page.press(" " if number == 0 else "ArrowDown")
            for _ in range(number - 1):
                await page.press("ArrowDown")
        elif place["id"].endswith("-note"):
            await page.send("Input.insertText", text=f"note on {place['id'].removesuffix('-note')}")
        elif place["id"] == "save":
            await page.press("Enter")
            return
    raise AssertionError("the page has no end")


@pytest.mark.integration
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_form_is_answered_by_keyboard_on_a_phones_width_and_its_file_is_read(small: Pack, tmp_path: Path) -> None:
    path = tmp_path / "pack.html"
    path.write_text(form(small.content, small.key.pack), encoding="utf-8")
    names = list(small.key.items)
    wanted = {
        name: number % len(QUESTIONS[small.key.items[name]["section"]].answers) for number, name in enumerate(names)
    }
    downloads = tmp_path / "downloads"

    async def use() -> list[dict[str, Any]]:
        assert CHROMIUM is not None
        async with opened(CHROMIUM, path.as_uri(), tmp_path, width=390) as page:
            assert await page.value("document.documentElement.scrollWidth") == 390
            assert await page.value("document.getElementById('progress').textContent") == "0 of 4 answered."
            await _answer_by_keyboard(page, wanted, "Ada Lovelace")
            for _ in range(100):
                if list(downloads.glob("*.json")):
                    break
                await asyncio.sleep(0.1)
            said = await page.value("document.getElementById('progress').textContent")
            assert said == f"Saved to answers-{small.key.pack[:8]}-Ada-Lovelace.json. 4 of 4 answered."
            assert await page.value("document.querySelectorAll('.item.answered').length") == 4
            await page.send("Page.reload")
            while await page.value("document.readyState") != "complete":
                await asyncio.sleep(0.1)
            assert await page.value("document.getElementById('progress').textContent") == "4 of 4 answered."
            return page.events

    events = asyncio.run(use())
    (saved,) = downloads.glob("*.json")
    answers = read_answers(saved, small.key)
    assert answers.reviewer == "Ada Lovelace"
    assert answers.given == {
        name: QUESTIONS[small.key.items[name]["section"]].answers[number][0] for name, number in wanted.items()
    }
    assert answers.notes == {name: f"note on {name}" for name in names}
    problems = [
        e for e in events if e["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
    ]
    assert problems == []
    asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    assert not [url for url in asked if not url.startswith((path.as_uri(), "data:", "blob:"))]


@pytest.mark.integration
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_saving_without_a_name_asks_for_it_and_saves_nothing(small: Pack, tmp_path: Path) -> None:
    path = tmp_path / "pack.html"
    path.write_text(form(small.content, small.key.pack), encoding="utf-8")

    async def use() -> tuple[str, str]:
        assert CHROMIUM is not None
        async with opened(CHROMIUM, path.as_uri(), tmp_path, width=1200) as page:
            await page.value("document.getElementById('reviewer').value = '  '")
            await page.value("document.getElementById('save').click()")
            return (
                await page.value("document.getElementById('progress').textContent"),
                await page.value("document.activeElement.id"),
            )

    said, focused = asyncio.run(use())
    assert said == "Please give your name or initials first. 0 of 4 answered."
    assert focused == "reviewer"
    assert not list((tmp_path / "downloads").glob("*"))

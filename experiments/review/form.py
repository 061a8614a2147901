"""The form of a pack: one HTML page that requests nothing, and saves its answers to a file of the reader's."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

Row = Mapping[str, Any]

PLACE: Final = Path(__file__).parent


def form(content: Row, pack: str) -> str:
    """The whole file.

    Its content security policy lets nothing be loaded, and no script run but its own, whatever a document holds.

    Args:
        content: of the pack: sections with their items.
        pack: its hash.
    """
    style, script = (PLACE.joinpath(name).read_text(encoding="utf-8") for name in ("form.css", "form.js"))
    own = f"style-src {_hash(style)}; script-src {_hash(script)}"
    policy = f"default-src 'none'; img-src data:; {own}; form-action 'none'"
    n = sum(len(section["items"]) for section in content["sections"])
    links = "".join(
        f'<li><a href="#{section["section"]}">{escape(section["title"])}</a> ({len(section["items"])})</li>'
        for section in content["sections"]
    )
    sections = "".join(_section(section) for section in content["sections"])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>Review of {n} items</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#items">Skip to the items</a>\n'
        f"<header>\n<h1>Review of {n} items</h1>\n"
        "<p>Read each item and choose one answer. Where you cannot tell, say so: that is an answer, and it is kept as "
        "one. Nothing is sent anywhere. When you are done, or want to stop, save your answers to a file and hand it to "
        "whoever gave you this page. A file that was saved can be loaded again, to go on.</p>\n"
        "<p>Answer by yourself: what others think of an item would make your answer worth less.</p>\n"
        '<noscript><p class="notice">This page needs scripts to save your answers. Please allow them for it.</p>'
        "</noscript>\n</header>\n"
        f'<form id="form" data-pack="{pack}" data-key="{content["key"]}" autocomplete="off">\n'
        '<p><label for="reviewer">Your name or initials</label> <input id="reviewer" name="reviewer" required '
        'aria-describedby="progress"></p>\n'
        '<p><label for="earlier">Answers saved earlier</label> <input id="earlier" type="file" '
        'accept="application/json,.json"></p>\n'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main id="items">\n{sections}</main>\n'
        '<div class="bar">\n<p id="progress" role="status" aria-live="polite"></p>\n'
        '<button type="button" id="next">Next without an answer</button>\n'
        '<button type="submit" id="save">Save answers</button>\n</div>\n</form>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _section(section: Row) -> str:
    items = "".join(_joined(item, section) for item in section["items"])
    return (
        f'<section aria-labelledby="{section["section"]}">\n'
        f'<h2 id="{section["section"]}">{escape(section["title"])}</h2>\n{items}</section>\n'
    )


def _joined(item: Row, section: Row) -> str:
    return "".join(f"{line}\n" for line in _item(item, section))


def _item(item: Row, section: Row) -> Iterator[str]:
    name = item["name"]
    yield f'<article class="item" id="{name}" aria-labelledby="{name}-title">'
    yield f'<h3 id="{name}-title">Item {name}</h3>'
    yield _text(name, "Source", item["source"])
    if item["document"] is not None:
        yield _text(name, "Document", item["document"])
    if item["statement"] is not None:
        label = "Claim: the document does not state" if item["document"] is not None else "Fact"
        yield f'<p class="label">{label}</p><blockquote>{escape(item["statement"])}</blockquote>'
    yield f'<fieldset data-item="{name}"><legend>{escape(section["question"])}</legend>'
    for value, words in section["answers"]:
        place = f"{name}-{value}"
        yield (
            f'<div><input type="radio" name="{name}" id="{place}" value="{escape(value)}">'
            f'<label for="{place}">{escape(words)}</label></div>'
        )
    yield "</fieldset>"
    yield (
        f'<p><label for="{name}-note">Note on {name}, if you like</label>'
        f'<textarea id="{name}-note" data-note="{name}" rows="2"></textarea></p>'
    )
    yield "</article>"


def _text(name: str, label: str, text: str) -> str:
    """A long text in a box that scrolls, which must be reachable and named for those who scroll by keyboard."""
    return (
        f'<p class="label">{label}</p><pre tabindex="0" role="region" aria-label="{label} of {name}">'
        f"{escape(text)}</pre>"
    )


def _hash(text: str) -> str:
    """What a content security policy knows an inline text by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"

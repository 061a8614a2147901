"""Keyed per-fact verdicts: read whole, or not read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from students.keyed import Keyed, parse_verdicts
from students.parsing import Abstained, Unread

KEYS = ("f1", "f2", "f3")
ALL = Keyed({"f1": True, "f2": False, "f3": True}, ())


@pytest.mark.parametrize(
    "text",
    [
        '{"f1": "present", "f2": "absent", "f3": "present"}',
        '{"F3": true, "f2": false, "f1": "Yes"}',
        '```json\n{"f1": "yes", "f2": "no", "f3": "yes"}\n```',
        '```\n{"f1": "yes", "f2": "no", "f3": "yes", "f1": "present"}\n```',
        "f1: yes\nf2: no\nf3: yes",
        "f1: present\nf2: absent\nf3: present\n",
        "```\nf1: yes\nf2: no\nf3: yes\n```",
        "Here are my verdicts.\n\n- f1: present\n- f2: absent\n- f3: present",
        "1. **f1**: Present\n2. **f2**: Absent.\n3. **f3**: Present",
        "* `f1` = YES\n* `f2` = NO\n* `f3` = YES",
        "f1: yes (stated under Plan)\nf2: no - nothing like it\nf3: yes: first line",
        "f1: yes, f2: no, f3: yes",
        "f1: yes; f2: no; f3: yes",
        '"f1": "present",\n"f2": "absent",\n"f3": "present"',
        "f1: yes\nf1: present\nf2: no\nf3: yes",
    ],
)
def test_verdicts_are_read(text: str) -> None:
    assert parse_verdicts(text, KEYS) == ALL


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("f1: yes\nf2: no\nf3: yes\nf4: yes", "unknown key 'f4'"),
        ('{"f1": "yes", "f9": "no"}', "unknown key 'f9'"),
        ("f1: yes\nf1: no\nf2: no\nf3: yes", "two verdicts for f1"),
        ('{"f1": "yes", "f1": "no", "f2": "no"}', "two verdicts for f1"),
        ('{"f1": "perhaps", "f2": "no"}', "'perhaps' is no verdict"),
        ('{"f1": 1, "f2": "no"}', "1 is no verdict"),
        ('{"f1": ["yes"], "f2": "no"}', "is no verdict"),
        ('{"f1": {"verdict": "yes"}}', "is no verdict"),
        ("f1: yes or no\nf2: no", "no clear verdict"),
        ("f1: yes - or no\nf2: no", "no clear verdict"),
        ("f1: partially\nf2: no", "no clear verdict"),
        ("f1 is present\nf2: no", "no clear verdict"),
        ("f1: not present\nf2: no", "no clear verdict"),
        ("f1: no present\nf2: no", "no clear verdict"),
        ("All facts are there.", "no verdict"),
        ("yes\nno\nyes", "no verdict"),
        ("{}", "no verdict"),
        ('{"f1": "yes"', "unparseable"),
    ],
)
def test_what_is_not_clear_is_not_read(text: str, why: str) -> None:
    found = parse_verdicts(text, KEYS)
    assert isinstance(found, Unread)
    assert why in f"{found.reason}: {found.seen}"
    assert found.reason == "unparseable"


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_nothing_is_reported_as_empty(text: str | None) -> None:
    assert parse_verdicts(text, KEYS) == Unread("empty", "")


@pytest.mark.parametrize("text", ["f2: no\nf1: yes", '{"f1": true, "f2": "absent"}'])
def test_a_key_that_is_left_out_is_missing_and_nothing_else(text: str) -> None:
    assert parse_verdicts(text, KEYS) == Keyed({"f1": True, "f2": False}, ("f3",))


@pytest.mark.parametrize("text", ["ABSTAIN", "Abstain: no note", '{"f1": "yes", "f2": null}'])
def test_a_judge_that_cannot_judge_abstains(text: str) -> None:
    assert isinstance(parse_verdicts(text, KEYS), Abstained)


def test_an_abstention_beside_verdicts_is_no_abstention() -> None:
    assert parse_verdicts("f1: yes\nf2: no\nf3: yes\nABSTAIN", KEYS) == ALL
    assert not isinstance(parse_verdicts("ABSTAIN\nf1: yes\nf2: no\nf3: yes", KEYS), Abstained)


keys = st.lists(
    st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,5}[0-9]", fullmatch=True), min_size=1, max_size=6, unique_by=str.casefold
)
yes, no = (
    st.sampled_from(["yes", "Yes", "PRESENT", "present", "true"]),
    st.sampled_from(["no", "No", "Absent", "false"]),
)
FORMS = ("{k}: {w}", "- {k}: {w}", "**{k}**: {w}", "{k} = {w}.", "{k}: {w} (see above)", '"{k}": "{w}"')


@given(st.data(), keys)
def test_written_verdicts_come_back_in_any_order_and_form(data: st.DataObject, asked: list[str]) -> None:
    verdicts = data.draw(st.fixed_dictionaries({key: st.booleans() for key in asked}))
    given_keys = data.draw(st.permutations(asked))[: data.draw(st.integers(1, len(asked)))]
    words = {key: data.draw(yes if verdicts[key] else no) for key in given_keys}
    if data.draw(st.booleans()):
        text = json.dumps(words)
    else:
        text = "\n".join(data.draw(st.sampled_from(FORMS)).format(k=key, w=word) for key, word in words.items())
    if data.draw(st.booleans()):
        text = f"```json\n{text}\n```"
    found = parse_verdicts(text, asked)
    assert isinstance(found, Keyed)
    assert found.found == {key: verdicts[key] for key in asked if key in given_keys}
    assert found.missing == tuple(key for key in asked if key not in given_keys)


@given(st.text(alphabet="f123: yesno,present\n{}\"'`-=.(;*", max_size=60) | st.text(max_size=60), keys)
def test_any_text_is_read_whole_or_not_at_all(text: str, asked: list[str]) -> None:
    for wanted in (KEYS, tuple(asked)):
        found = parse_verdicts(text, wanted)
        if isinstance(found, Keyed):
            assert found.found
            assert tuple(found.found) == tuple(key for key in wanted if key in found.found)
            assert set(found.found).isdisjoint(found.missing)
            assert {*found.found, *found.missing} == set(wanted)


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.booleans()))
def test_no_other_json_value_is_a_verdict(value: object) -> None:
    found = parse_verdicts(json.dumps({"f1": value}), ("f1",))
    if isinstance(found, Keyed):
        assert isinstance(value, bool | str)
        assert found.found == {"f1": str(value).strip().lower() in ("true", "yes", "present")}


@given(
    st.permutations(["f1: yes", "f2: no", "f3: yes"]),
    st.sampled_from(["f1: no", "f2: yes", "f3: absent"]),
    st.integers(0, 3),
)
def test_a_second_opinion_is_never_chosen_from(lines: list[str], other: str, place: int) -> None:
    text = "\n".join([*lines[:place], other, *lines[place:]])
    assert isinstance(parse_verdicts(text, KEYS), Unread)

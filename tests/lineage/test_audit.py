"""The audit finds every change to a run directory, and nothing in one that was left alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage.audit import audit_ledger, check_kept_head
from lineage.canonical import canonical_json, digest, digest_bytes, pretty_json
from lineage.ledger import GENESIS, read_events
from lineage.records import candidate_id

Rows = list[dict[str, Any]]


@pytest.fixture
def run(finished_run: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


def errors(directory: Path) -> list[str]:
    return [f"{found.place}: {found.words}" for found in audit_ledger(directory) if found.severity == "error"]


def warnings(directory: Path) -> list[str]:
    return [f"{found.place}: {found.words}" for found in audit_ledger(directory) if found.severity == "warning"]


def ledger_rows(directory: Path) -> Rows:
    return [json.loads(line) for line in (directory / "ledger.jsonl").read_text().splitlines()]


def write_rows(directory: Path, rows: Rows, *, head: bool = False) -> None:
    lines = "".join(canonical_json(row) + "\n" for row in rows)
    (directory / "ledger.jsonl").write_text(lines, encoding="utf-8")
    if head:
        content = {"count": len(rows), "hash": rows[-1]["hash"] if rows else GENESIS}
        (directory / "ledger.head.json").write_text(pretty_json(content), encoding="utf-8")


def rewrite(directory: Path, change: Callable[[Rows], Rows]) -> None:
    """What a forger can do: change events, chain them anew, and write head and verdict file to match."""
    rows = change(ledger_rows(directory))
    prev = GENESIS
    for seq, row in enumerate(rows):
        row.update(seq=seq, prev=prev)
        prev = row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    write_rows(directory, rows, head=True)
    verdict = next((row for row in rows if row["type"] == "verdict"), None)
    end = next((row for row in rows if row["type"] == "finished"), None)
    if verdict is not None and end is not None:
        head = {"count": end["seq"] + 1, "hash": end["hash"]}
        (directory / "verdict.json").write_text(pretty_json({**verdict["body"]["verdict"], "ledger_head": head}))


def first(rows: Rows, kind: str, /, **body: Any) -> dict[str, Any]:
    return next(r for r in rows if r["type"] == kind and all(r["body"][key] == value for key, value in body.items()))


def without(rows: Rows, row: dict[str, Any]) -> Rows:
    return [other for other in rows if other is not row]


def moved(rows: Rows, row: dict[str, Any], place: int) -> Rows:
    rest = without(rows, row)
    return [*rest[:place], row, *rest[place:]]


def repeated(rows: Rows, row: dict[str, Any]) -> Rows:
    place = rows.index(row) + 1
    return [*rows[:place], json.loads(json.dumps(row)), *rows[place:]]


def edited(rows: Rows, row: dict[str, Any], **body: Any) -> Rows:
    row["body"].update(body)
    return rows


def test_an_untouched_run_has_no_error(run: Path) -> None:
    assert errors(run) == []
    assert warnings(run) == []


def test_a_finding_says_what_to_do(run: Path) -> None:
    (run / "plan.json").unlink()
    assert all(found.remedy and found.place for found in audit_ledger(run))


def test_a_directory_without_a_ledger_is_an_error(tmp_path: Path) -> None:
    assert errors(tmp_path) == ["ledger.jsonl: there is no ledger"]


def test_every_changed_byte_of_the_ledger_is_found(run: Path) -> None:
    whole = (run / "ledger.jsonl").read_bytes()
    for place in [*range(0, len(whole), 499), len(whole) - 1]:
        for bit in (0x01, 0x20):
            changed = bytearray(whole)
            changed[place] ^= bit
            (run / "ledger.jsonl").write_bytes(bytes(changed))
            assert errors(run), f"byte {place} ^ {bit:#x}"


def test_every_dropped_event_is_found_even_the_last(run: Path) -> None:
    rows = ledger_rows(run)
    for seq in range(len(rows)):
        write_rows(run, rows[:seq] + rows[seq + 1 :])
        assert errors(run), f"seq {seq}"


def test_every_pair_of_swapped_events_is_found(run: Path) -> None:
    rows = ledger_rows(run)
    for seq in range(len(rows) - 1):
        write_rows(run, [*rows[:seq], rows[seq + 1], rows[seq], *rows[seq + 2 :]])
        assert errors(run), f"seq {seq}"


def test_every_truncation_is_found(run: Path) -> None:
    rows = ledger_rows(run)
    for count in range(len(rows)):
        write_rows(run, rows[:count])
        assert errors(run), f"{count} events"


def test_every_truncation_with_a_matching_head_is_found_by_the_verdict_file(run: Path) -> None:
    rows = ledger_rows(run)
    for count in range(1, len(rows)):
        write_rows(run, rows[:count], head=True)
        assert any("verdict.json" in words for words in errors(run)), f"{count} events"


def test_an_added_event_is_found(run: Path) -> None:
    rows = ledger_rows(run)
    row = {**rows[-1], "seq": len(rows), "type": "note", "prev": rows[-1]["hash"]}
    row["hash"] = digest({key: value for key, value in row.items() if key != "hash"})
    write_rows(run, [*rows, row])
    assert any("events were added" in words for words in errors(run))


def test_an_interrupted_campaign_has_no_error_at_any_event(run: Path, tmp_path: Path) -> None:
    rows = ledger_rows(run)
    for name in ("verdict.json", "prompt.md", "split.lock.register.jsonl"):
        (run / name).unlink()
    for count in range(2, len(rows)):
        copy = Path(shutil.copytree(run, tmp_path / f"after-{count}"))
        write_rows(copy, rows[:count], head=True)
        kept = {row["body"]["segment"]["name"] for row in rows[:count] if row["type"] == "evaluation"}
        for path in (copy / "judgements").iterdir():
            if path.stem not in kept:
                path.unlink()
        assert errors(copy) == [], f"{count} events"
        assert any("not finished" in words for words in warnings(copy))


def test_a_kill_while_writing_is_a_warning(run: Path) -> None:
    rows = ledger_rows(run)
    (run / "verdict.json").unlink()
    (run / "prompt.md").unlink()
    write_rows(run, rows[:40], head=True)
    for path in (run / "judgements").iterdir():
        if path.stem not in {row["body"]["segment"]["name"] for row in rows[:40] if row["type"] == "evaluation"}:
            path.unlink()
    with (run / "ledger.jsonl").open("a") as file:
        file.write(canonical_json(rows[40])[:50])
    assert errors(run) == []
    assert any("no terminator" in words for words in warnings(run))
    with (run / "ledger.jsonl").open("w") as file:
        file.writelines(canonical_json(row) + "\n" for row in rows[:41])
    if rows[40]["type"] != "evaluation":
        assert errors(run) == []
        assert any("events were added" in words for words in warnings(run))


@pytest.mark.parametrize("name", ["plan.json", "split.lock.json", "examples.jsonl", "ledger.head.json", "verdict.json"])
def test_every_changed_file_beside_the_ledger_is_found(run: Path, name: str) -> None:
    whole = (run / name).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 25)):
        changed = bytearray(whole)
        changed[place] ^= 0x01
        (run / name).write_bytes(bytes(changed))
        assert errors(run), f"byte {place}"
    (run / name).write_bytes(whole + b"\n")
    assert errors(run) or name == "ledger.head.json"


@pytest.mark.parametrize("name", ["plan.json", "split.lock.json", "examples.jsonl", "ledger.head.json", "prompt.md"])
def test_a_missing_file_is_found(run: Path, name: str) -> None:
    (run / name).unlink()
    assert any(name in words for words in errors(run))


def test_an_edited_judgement_is_found(run: Path) -> None:
    path = sorted((run / "judgements").iterdir())[3]
    lines = path.read_text().splitlines()
    row = json.loads(lines[0])
    row["score"] = 0.001
    path.write_text("\n".join([canonical_json(row), *lines[1:]]) + "\n")
    assert any(path.name in words and "edited" in words for words in errors(run))


def test_a_missing_and_a_stray_segment_are_found(run: Path) -> None:
    path = sorted((run / "judgements").iterdir())[0]
    path.rename(path.with_name("0099-accept.jsonl"))
    assert any("is missing" in words for words in errors(run))
    assert any("0099-accept.jsonl: is in no event" in words for words in errors(run))


def test_a_prompt_file_without_a_passing_verdict_is_found(run: Path) -> None:
    (run / "prompt.md").write_text("Be kind.", encoding="utf-8")
    assert any("not the prompt" in words for words in errors(run))

    def refuse(rows: Rows) -> Rows:
        verdict = first(rows, "verdict")["body"]
        verdict["verdict"]["decision"] = first(rows, "finished")["body"]["decision"] = "refuse"
        verdict.update(verdict_hash=digest(verdict["verdict"]), prompt=None)
        return rows

    rewrite(run, refuse)
    assert errors(run) == ["prompt.md: there is a prompt file, but no passing verdict"]
    (run / "prompt.md").unlink()
    assert errors(run) == []


def test_a_forged_pass_without_a_recorded_prompt_is_found(run: Path) -> None:
    rewrite(run, lambda rows: edited(rows, first(rows, "verdict"), prompt=None))
    assert any("prompt" in words for words in errors(run))


FORGERIES: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "the plan comes second": (lambda rows: moved(rows, rows[0], 1), "the first event is not the plan"),
    "another plan": (
        lambda rows: edited(rows, rows[0], plan={**rows[0]["body"]["plan"], "replicates": 3}),
        "plan's hash",
    ),
    "no splits": (lambda rows: without(rows, rows[1]), "splits are not recorded"),
    "other counts": (lambda rows: edited(rows, rows[1], groups={"reflect": 1}), "counts"),
    "two choices": (lambda rows: repeated(rows, first(rows, "choice")), "a second choice"),
    "two finishes": (lambda rows: repeated(rows, first(rows, "finished")), "a second finished"),
    "no choice": (lambda rows: without(rows, first(rows, "choice")), "without a choice"),
    "late baseline opening": (
        lambda rows: moved(rows, first(rows, "seal_opened", opening="baseline"), rows.index(first(rows, "choice"))),
        "held-out examples are judged outside the baseline opening",
    ),
    "no baseline opening": (
        lambda rows: without(rows, first(rows, "seal_opened", opening="baseline")),
        "held-out examples are judged outside the baseline opening",
    ),
    "search before the baseline": (
        lambda rows: moved(rows, first(rows, "measured", purpose="baseline"), rows.index(first(rows, "choice"))),
        "the search began before the baseline was measured",
    ),
    "confirm before the choice": (
        lambda rows: moved(rows, first(rows, "choice"), rows.index(first(rows, "verdict"))),
        "confirm opening comes before the choice",
    ),
    "an opening twice": (
        lambda rows: repeated(rows, first(rows, "seal_opened", opening="confirm")),
        "the confirm opening is made a second time",
    ),
    "a third opening": (
        lambda rows: edited(rows, first(rows, "seal_opened", opening="confirm"), opening="peek"),
        "not a planned opening",
    ),
    "held-out examples in the search": (
        lambda rows: edited(rows, first(rows, "evaluation", purpose="minibatch"), split="heldout"),
        "an evaluation for minibatch on the split heldout",
    ),
    "an evaluation that is another purpose's": (
        lambda rows: edited(rows, first(rows, "evaluation", purpose="baseline"), purpose="accept", split="accept"),
        "judges examples outside the split accept",
    ),
    "another student": (
        lambda rows: edited(rows, first(rows, "evaluation", purpose="accept"), student="0" * 64),
        "another student",
    ),
    "fewer examples": (
        lambda rows: edited(rows, first(rows, "evaluation", purpose="accept"), examples={"count": 1, "hash": ""}),
        "does not judge the examples",
    ),
    "hidden failures": (
        lambda rows: edited(rows, first(rows, "evaluation", purpose="accept"), failed=2),
        "the ledger says otherwise",
    ),
    "another text": (
        lambda rows: edited(rows, first(rows, "candidate", kind="mutation"), texts={"instruction": "Say yes."}),
        "not the hash of its texts",
    ),
    "another text with its id": (
        lambda rows: edited(
            rows,
            first(rows, "candidate", kind="mutation"),
            texts={"instruction": "Say yes."},
            candidate=candidate_id({"instruction": "Say yes."}),
        ),
        "not what the reflection before it proposed",
    ),
    "an unknown parent": (
        lambda rows: edited(rows, first(rows, "candidate", kind="mutation"), parents=["f" * 64]),
        "no earlier candidate",
    ),
    "no outcome": (lambda rows: without(rows, first(rows, "outcome")), "without an outcome"),
    "two outcomes": (lambda rows: repeated(rows, first(rows, "outcome")), "a second one"),
    "an outcome of its own": (lambda rows: edited(rows, first(rows, "outcome"), outcome="best"), "not an outcome"),
    "accepted without accept": (
        lambda rows: edited(rows, first(rows, "outcome", outcome="rejected"), outcome="accepted"),
        "without an evaluation on accept",
    ),
    "a forgotten candidate": (
        lambda rows: edited(rows, first(rows, "choice"), ranking=first(rows, "choice")["body"]["ranking"][:-1]),
        "does not rank the seed and every accepted candidate",
    ),
    "fewer candidates counted": (lambda rows: edited(rows, first(rows, "choice"), rejected=0), "rejected candidates"),
    "another winner": (
        lambda rows: edited(rows, first(rows, "choice"), winner=first(rows, "candidate")["body"]["candidate"]),
        "the winner is not the first of the ranking",
    ),
    "a verdict of another campaign": (
        lambda rows: edited(rows, first(rows, "verdict"), verdict_hash="0" * 64),
        "not the hash of the verdict",
    ),
    "another last decision": (lambda rows: edited(rows, first(rows, "finished"), decision="refuse"), "last decision"),
    "a hidden exploratory mark": (
        lambda rows: edited(rows, rows[0], exploratory="a look"),
        "exploratory mark is not the plan's",
    ),
    "a record without its fields": (
        lambda rows: edited(without(rows, rows[1]), rows[0], plan_hash=None),
        "hash is not the hash of the plan",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_that_is_chained_anew_is_found(run: Path, name: str) -> None:
    change, words = FORGERIES[name]
    rewrite(run, change)
    found = errors(run)
    assert any(words in error for error in found), found


def test_a_record_without_its_fields_is_a_finding(run: Path) -> None:
    def forget(rows: Rows) -> Rows:
        del first(rows, "choice")["body"]["ranking"]
        return rows

    rewrite(run, forget)
    assert any("does not have the form" in words for words in errors(run))


def test_a_replaced_segment_with_its_hash_is_found_by_the_judgements_it_lacks(run: Path) -> None:
    path = next(path for path in sorted((run / "judgements").iterdir()) if "accept" in path.name)
    text = "".join(line + "\n" for line in path.read_text().splitlines()[1:])
    path.write_text(text)

    def relink(rows: Rows) -> Rows:
        row = next(r for r in rows if r["type"] == "evaluation" and r["body"]["segment"]["name"] == path.stem)
        row["body"]["segment"]["volatile"]["sha256"] = digest_bytes(text.encode())
        return rows

    rewrite(run, relink)
    assert any("does not have the recorded hash" in words for words in errors(run))
    assert any("does not judge the examples" in words for words in errors(run))


def test_a_kept_head_shows_a_rewrite_of_everything(run: Path) -> None:
    kept = read_events(run / "ledger.jsonl")[-1].hash
    assert [found.severity for found in check_kept_head(run, kept)] == ["info"]
    (run / "split.lock.register.jsonl").unlink()
    rewrite(run, lambda rows: edited(rows, rows[0], volatile={"host": "another"}))
    assert errors(run) == []
    assert [found.severity for found in check_kept_head(run, kept)] == ["error"]


def test_an_earlier_kept_head_is_found_in_the_chain(run: Path) -> None:
    events = read_events(run / "ledger.jsonl")
    (found,) = check_kept_head(run, f" {events[5].hash.upper()}\n")
    assert found.place == "seq 5"


def test_a_kept_head_of_a_damaged_ledger_is_an_error(run: Path) -> None:
    kept = read_events(run / "ledger.jsonl")[-1].hash
    write_rows(run, ledger_rows(run)[1:])
    assert [found.severity for found in check_kept_head(run, kept)] == ["error"]

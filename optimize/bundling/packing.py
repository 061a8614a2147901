"""Packing a run into a bundle: what goes in, and whether it can be replayed from what is in it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lineage._version import __version__
from lineage.bundle import Member, write_bundle
from lineage.errors import BundleError, HoldgateError, LedgerError
from lineage.imported import is_imported
from lineage.ledger import Event, canonical_state, check_head, read_events
from lineage.mirror.store import STATE
from lineage.records import VOLATILE
from optimize.bundling.answers import UsedAnswers, answer_lines
from optimize.bundling.replaying import CALLS, no_replay, replay_run
from optimize.bundling.withholding import left_out_of, withheld_files
from splits import save_corpus
from splits.corpus import Corpus

REVIEWS: Final = "review-"
"""Begins the names of folders with packs for reviewers."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle that was written.

    Attributes:
        path: the archive.
        members: what is in it.
        calls: recorded answers among it.
        replay: why it cannot be replayed, in words, or None where it can.
        withheld: how many texts of others are not in it, or None where nothing was withheld.
        left_out: files that were left out whole, and why.
    """

    path: Path
    members: tuple[Member, ...]
    calls: int
    replay: str | None
    withheld: int | None
    left_out: tuple[str, ...] = ()


def pack_run(
    run: Path, path: Path, *, corpus: Corpus | None, cache: Path | None = None, withhold: bool = False
) -> Packed:
    """Pack a run directory into a bundle.

    A campaign is run again from its recorded answers on the way, which shows which of them it used, and that they are
    all it needs.

    Args:
        run: the run directory.
        path: the archive to write.
        corpus: the whole corpus of the run; None packs its hash alone.
        cache: its call cache; by default beside the run directory.
        withhold: whether the corpus's texts, and whatever quotes them, are left out.

    Raises:
        BundleError: the corpus is another one, or text that is to be withheld would be left in.
        LedgerError: the ledger is damaged.
    """
    events = read_events(run / "ledger.jsonl")
    check_head(run / "ledger.jsonl", events)
    if not events:
        raise LedgerError(f"{run}: an empty ledger is nothing to pack")
    registered = events[0].body
    if corpus is not None and registered.get("corpus_hash") not in (None, corpus.hash):
        raise BundleError(
            f"{run}: was judged on the corpus {registered['corpus_hash'][:12]}, and the one given is "
            f"{corpus.hash[:12]}; name the plan that it ran with: --plan"
        )
    files = {f"run/{name}": file for name, file in _run_files(run)}
    with tempfile.TemporaryDirectory(prefix="holdgate-pack-") as place:
        work = Path(place)
        if withhold:
            if corpus is None:
                raise BundleError(f"{run}: text can be withheld only where it is known: name the plan's file: --plan")
            kept = withheld_files(files, events, corpus)
            content = {**_content(events), "corpus": _corpus(registered, packed=False), "withheld": kept.said}
            content["replay"] = {"possible": False, "reason": "its texts are withheld", "calls": 0}
            members = write_bundle(path, content, kept.files)
            return Packed(path, members, 0, "its texts are withheld", kept.said["texts"], tuple(left_out_of(kept.said)))
        why, calls = _recorded(run, work, events, corpus=corpus, cache=cache or run.parent / "calls.sqlite")
        contents: dict[str, Path | bytes] = {**files}
        if corpus is not None:
            for file in save_corpus(corpus, work / "corpus"):
                contents[f"corpus/{file.name}"] = file
        if calls:
            contents[CALLS] = calls.encode("utf-8")
        count = calls.count("\n")
        content = {
            **_content(events),
            "corpus": _corpus(registered, packed=corpus is not None),
            "withheld": None,
            "replay": {"possible": why is None, "reason": why, "calls": count},
        }
        return Packed(path, write_bundle(path, content, contents), count, why, None)


def _run_files(run: Path) -> Iterator[tuple[str, Path]]:
    """Every file of the run directory but unfinished ones, those of its process and mirror, and packs for review.

    A pack's key would tell its readers what they are to judge blindly.
    """
    for file in sorted(run.rglob("*")):
        name = file.relative_to(run)
        if any(part.startswith(".") for part in name.parts) or name.parts[0].startswith(REVIEWS):
            continue
        if name.suffix == ".lock" or name.name == STATE:
            continue
        if file.is_symlink():
            raise BundleError(f"{file}: is a link, and a bundle holds files alone; put the file in its place")
        if file.is_file():
            yield name.as_posix(), file


def _content(events: Sequence[Event]) -> dict[str, Any]:
    """What the manifest says of the run."""
    first = events[0]
    verdict = next((event.body["verdict"] for event in events if event.type == "verdict"), None)
    software = dict(first.body.get(VOLATILE, {}))
    return {
        "name": first.body["name"] if is_imported(events) else first.body["plan"]["name"],
        "kind": "imported" if is_imported(events) else first.body.get("kind", "campaign"),
        "campaign": first.hash,
        "head": {"count": len(events), "hash": events[-1].hash},
        "state": canonical_state(events),
        "decision": None if verdict is None else verdict["decision"],
        "software": software,
        "packed_by": __version__,
    }


def _corpus(registered: Mapping[str, Any], *, packed: bool) -> dict[str, Any]:
    return {"hash": registered.get("corpus_hash"), "packed": packed}


def _recorded(
    run: Path, work: Path, events: Sequence[Event], *, corpus: Corpus | None, cache: Path
) -> tuple[str | None, str]:
    """Why the run cannot be replayed, or None; and the recorded calls that it used, as lines."""
    if (why := no_replay(events)) is not None:
        return why, ""
    if corpus is None:
        return "its corpus is not packed, only the hash of it", ""
    if not cache.is_file():
        return f"there is no call cache {cache.name} beside it", ""
    answers = UsedAnswers(cache)
    try:
        replayed = replay_run(run, work / "again", corpus=corpus, answers=answers)
        if not replayed.equal:
            why = f"run again from its recorded answers it comes to something else: {'; '.join(replayed.difference)}"
    except HoldgateError as error:
        why = str(error)
    finally:
        answers.release()
    return why, answer_lines(cache, answers.used)

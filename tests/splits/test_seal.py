"""The seal: held-out text is seen in two planned openings and nowhere else."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lineage.errors import LedgerError, SealError
from lineage.ledger import Ledger, canonical_state
from lineage.openings import is_look
from splits.contamination import NgramIndex
from splits.corpus import Corpus
from splits.draft import plan_lock
from splits.lock import SplitLock, split_examples
from splits.register import Comparison, register_path
from splits.seal import Seal

TARGET = "instruction"
CALLER = "tests.splits"
OpenLedger = Callable[[str], Ledger]


def ids(part: Corpus) -> list[str]:
    return [example.id for example in part.examples]


def markers(lock: SplitLock) -> list[str]:
    return [f"zq{group}marker" for group in lock.splits["heldout"]]


@dataclass
class Holder:
    """Anything of a campaign that holds a seal."""

    seal: Seal


@pytest.fixture
def seal(corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger) -> Seal:
    return Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER)


def test_an_opening_gives_exactly_the_held_out_examples_with_their_ranks(
    seal: Seal, corpus: Corpus, lock: SplitLock
) -> None:
    part = seal.open("baseline", lambda part: part)
    assert set(part.groups) == set(lock.splits["heldout"])
    assert set(part.facts) == set(lock.splits["heldout"])
    assert all(part.rank[name] == corpus.rank[name] for name in ids(part))
    others = [example.id for name in ("reflect", "accept") for example in split_examples(lock, corpus, name)]
    assert not set(ids(part)) & set(others)


@pytest.mark.parametrize("opening", ["baseline", "confirm"])
def test_heldout_cannot_be_opened_twice(opening: Any, seal: Seal) -> None:
    seal.open("baseline", ids)
    if opening == "confirm":
        seal.open("confirm", ids)
    with pytest.raises(SealError, match=rf"the {opening} opening of target 'instruction' has been used; each is made"):
        seal.open(opening, pytest.fail)


def test_a_second_seal_on_the_same_ledger_does_not_open_it_again(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    Seal(corpus, lock, ledger, target=TARGET, caller=CALLER).open("baseline", ids)
    with pytest.raises(SealError, match="the baseline opening of target 'instruction' has been used"):
        Seal(corpus, lock, ledger, target=TARGET, caller=CALLER).open("baseline", pytest.fail)


def test_an_opening_whose_evaluation_failed_is_used_in_this_process(seal: Seal) -> None:
    def fail(_: Corpus) -> None:
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        seal.open("baseline", fail)
    with pytest.raises(SealError, match="has been used"):
        seal.open("baseline", pytest.fail)


def test_confirm_does_not_come_before_baseline(seal: Seal) -> None:
    with pytest.raises(SealError, match="confirm comes after baseline"):
        seal.open("confirm", pytest.fail)


@pytest.mark.parametrize("opening", ["Baseline", "peek", "", "heldout", None])
def test_an_unplanned_opening_is_refused(opening: Any, seal: Seal) -> None:
    with pytest.raises(SealError, match="opening must be one of baseline, confirm, got"):
        seal.open(opening, pytest.fail)


def test_a_refused_opening_leaves_no_event_and_takes_no_place(seal: Seal, lock: SplitLock, tmp_path: Path) -> None:
    before = (tmp_path / "run" / "ledger.jsonl").read_bytes()
    for opening in ("confirm", "peek"):
        with pytest.raises(SealError, match=r"opening must|comes after"):
            seal.open(opening, pytest.fail)  # type: ignore[arg-type]  # the wrong name is what is tested
    assert (tmp_path / "run" / "ledger.jsonl").read_bytes() == before
    assert not register_path(lock).exists()


def test_each_opening_is_logged_before_its_examples_are_seen(seal: Seal, lock: SplitLock, tmp_path: Path) -> None:
    def logged(_: Corpus) -> str:
        return (tmp_path / "run" / "ledger.jsonl").read_text(encoding="utf-8").splitlines()[-1]

    event = seal.open("baseline", logged)
    assert '"opening":"baseline"' in event
    assert '"purpose":"measure the incumbent before the search"' in event
    event = seal.open("confirm", logged)
    assert '"opening":"confirm"' in event
    assert f'"target":"{TARGET}"' in event
    assert f'"caller":"{CALLER}"' in event
    assert '"comparison":{"alpha":0.05,"k":1,"of":1}' in event
    assert lock.hash in event
    assert seal.comparison == Comparison(1, 1, 0.05)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_seal_and_whatever_holds_it_cannot_be_pickled(protocol: int, seal: Seal) -> None:
    for held in (seal, [seal], {"seal": seal}, (1, (seal,)), Holder(seal)):
        with pytest.raises(SealError, match="cannot be pickled or copied"):
            pickle.dumps(held, protocol)


def test_a_seal_and_whatever_holds_it_cannot_be_copied(seal: Seal) -> None:
    with pytest.raises(SealError, match="cannot be pickled or copied"):
        copy.copy(seal)
    for held in (seal, [seal], Holder(seal)):
        with pytest.raises(SealError, match="cannot be pickled or copied"):
            copy.deepcopy(held)


def test_neither_repr_nor_attributes_of_a_seal_hold_text(seal: Seal, lock: SplitLock) -> None:
    seal.open("baseline", ids)
    assert not hasattr(seal, "__dict__")
    shown = [repr(seal), str(seal), f"{Holder(seal)}"]
    for name in dir(seal):
        if not name.startswith("__"):
            shown.append(repr(getattr(seal, name)))
    for text in shown:
        assert not any(marker in text for marker in markers(lock))
    assert repr(seal) == "Seal('instruction', 6 held-out groups, opened ['baseline'])"


def test_planted_markers_of_held_out_documents_are_nowhere_in_the_run_directory(
    seal: Seal, lock: SplitLock, tmp_path: Path
) -> None:
    for opening in ("baseline", "confirm"):
        seen = seal.open(opening, lambda part: "".join(example.document for example in part.examples))  # type: ignore[arg-type]  # both are openings
        assert all(marker in seen for marker in markers(lock))
    seal.ngrams()
    for path in (*(tmp_path / "run").rglob("*"), register_path(lock)):
        data = path.read_bytes()
        assert not any(marker.encode() in data for marker in markers(lock))


def test_ngrams_tell_copies_without_an_opening_or_text(seal: Seal, corpus: Corpus, lock: SplitLock) -> None:
    index = seal.ngrams()
    held, seen = lock.splits["heldout"][0], lock.splits["reflect"][0]
    assert index.copied(corpus.by_id[f"{held}.clean"].source)
    assert f"zq{held}marker" not in repr(index)
    assert not any(f"zq{seen}marker" in gram for gram in index.copied(corpus.by_id[f"{seen}.clean"].source))
    assert isinstance(index, NgramIndex)
    assert seal._opened == []


def test_a_resumed_campaign_has_the_same_openings_and_keeps_its_place(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    first = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    examples = first.open("baseline", ids)
    first.open("confirm", ids)
    state = canonical_state(ledger.events)
    ledger.close()
    resumed = open_ledger("run")
    again = Seal(corpus, lock, resumed, target=TARGET, caller=CALLER)
    assert again.open("baseline", ids) == examples
    assert again.open("confirm", ids) == examples
    assert again.comparison == first.comparison == Comparison(1, 1, 0.05)
    assert canonical_state(resumed.events) == state
    with pytest.raises(SealError, match="has been used"):
        again.open("confirm", pytest.fail)


def test_a_campaign_killed_between_register_and_ledger_finds_its_place_again(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    seal.open("baseline", ids)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "perform", killed)
        with pytest.raises(KeyboardInterrupt):
            seal.open("confirm", pytest.fail)
    ledger.close()
    again = Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER)
    again.open("baseline", ids)
    again.open("confirm", ids)
    assert again.comparison == Comparison(1, 1, 0.05)


def test_a_second_campaign_is_refused_once_alpha_is_spent_and_exploring_goes_on(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    first = Seal(corpus, lock, open_ledger("one"), target=TARGET, caller=CALLER)
    first.open("baseline", ids)
    first.open("confirm", ids)
    register = register_path(lock).read_bytes()
    with pytest.raises(SealError, match=r"are spent .* go on with --exploratory REASON"):
        Seal(corpus, lock, open_ledger("two"), target=TARGET, caller=CALLER).open("baseline", pytest.fail)
    ledger = open_ledger("three")
    exploring = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER, exploratory="a second look")
    assert exploring.open("baseline", ids) == exploring.open("confirm", ids)
    assert exploring.comparison is None
    assert [event.body["exploratory"] for event in ledger.events if event.type == "seal_opened"] == [
        "a second look"
    ] * 2
    assert register_path(lock).read_bytes() == register


def test_an_exploratory_campaign_takes_no_place(corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger) -> None:
    exploring = Seal(corpus, lock, open_ledger("explore"), target=TARGET, caller=CALLER, exploratory="why not")
    exploring.open("baseline", ids)
    exploring.open("confirm", ids)
    assert not register_path(lock).exists()
    real = Seal(corpus, lock, open_ledger("real"), target=TARGET, caller=CALLER)
    real.open("baseline", ids)
    real.open("confirm", ids)
    assert real.comparison == Comparison(1, 1, 0.05)


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_an_exploratory_campaign_states_its_reason(
    reason: str, corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    with pytest.raises(SealError, match="states its reason; give one: --exploratory REASON"):
        Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER, exploratory=reason)


def test_an_exploratory_campaign_cannot_be_resumed_as_a_confirmatory_one(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    Seal(corpus, lock, ledger, target=TARGET, caller=CALLER, exploratory="a look").open("baseline", ids)
    ledger.close()
    with pytest.raises(LedgerError, match=r"seq 1 holds 'seal_opened' .*\(differs in exploratory\)"):
        Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER).open("baseline", pytest.fail)


def test_a_register_that_lost_its_tail_does_not_give_a_resumed_campaign_another_place(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    seal.open("baseline", ids)
    seal.open("confirm", ids)
    ledger.close()
    register_path(lock).unlink()
    again = Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER)
    again.open("baseline", ids)
    again.open("confirm", ids)
    assert again.comparison == seal.comparison


def test_a_seal_needs_a_committed_lock(corpus: Corpus, open_ledger: OpenLedger) -> None:
    plan = plan_lock(corpus, sizes={"reflect": 3, "accept": 3, "heldout": 6}, seed=7)
    with pytest.raises(SealError, match="must be committed to a file"):
        Seal(corpus, plan, open_ledger("run"), target=TARGET, caller=CALLER).open("baseline", pytest.fail)


# -- exploratory openings ----------------------------------------------------------------------------------------------

LOOK = "read the failures"
REASON = "the baseline looked odd"


def looked(ledger: Ledger) -> list[dict[str, Any]]:
    """Bodies of the exploratory openings."""
    return [dict(event.body) for event in ledger.events if is_look(event)]


def test_an_exploratory_opening_is_logged_with_purpose_target_caller_and_reason(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    held = {example.id for example in corpus.examples if example.group in lock.splits["heldout"]}
    assert set(seal.open_exploratory(LOOK, ids, reason=REASON)) == held
    (body,) = looked(ledger)
    assert (body["purpose"], body["target"], body["caller"], body["exploratory"]) == (LOOK, TARGET, CALLER, REASON)
    assert (body["lock"], body["comparison"]) == (lock.hash, None)
    assert not register_path(lock).exists()


def test_an_exploratory_opening_taints_what_comes_after_it(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    seal = Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER)
    seal.open("baseline", ids)
    assert seal.tainted is None
    seal.open_exploratory(LOOK, ids, reason=REASON)
    assert seal.tainted == f"the held-out split was also opened for {LOOK}: {REASON}"
    assert Seal(corpus, lock, seal._ledger, target=TARGET, caller="another").tainted == seal.tainted


def test_a_tainted_campaign_confirms_nothing_and_takes_no_place(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    seal = Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER)
    seal.open("baseline", ids)
    seal.open_exploratory(LOOK, ids, reason=REASON)
    seal.open("confirm", ids)
    assert seal.comparison is None
    real = Seal(corpus, lock, open_ledger("real"), target=TARGET, caller=CALLER)
    real.open("baseline", ids)
    real.open("confirm", ids)
    assert real.comparison == Comparison(1, 1, 0.05)


def test_an_opening_after_the_verdict_changes_nothing_before_it(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    ledger.perform("verdict", {}, dict)
    seal.open_exploratory(LOOK, ids, reason=REASON)
    assert seal.tainted is None
    assert len(looked(ledger)) == 1


def test_a_campaign_resumes_past_an_opening_that_another_process_made(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    Seal(corpus, lock, ledger, target=TARGET, caller=CALLER).open("baseline", ids)
    ledger.close()
    stray = open_ledger("run")
    Seal(corpus, lock, stray, target=TARGET, caller="a notebook").open_exploratory(LOOK, ids, reason=REASON)
    stray.close()
    heard: list[str] = []
    resumed = Ledger(stray.path, listen=lambda event: heard.append(event.type))
    try:
        resumed.perform("plan", {"name": "run"}, dict)
        seal = Seal(corpus, lock, resumed, target=TARGET, caller=CALLER)
        seal.open("baseline", ids)
        assert not resumed.replaying
        seal.open("confirm", ids)
        assert seal.comparison is None
        assert seal.tainted is not None
        assert heard == ["plan", "seal_opened", "seal_opened", "seal_opened"]
    finally:
        resumed.close()


def test_a_place_that_was_taken_before_the_taint_is_kept_on_resumption(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    seal.open("baseline", ids)
    seal.open("confirm", ids)
    seal.open_exploratory(LOOK, ids, reason=REASON)
    ledger.close()
    again = Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=CALLER)
    again.open("baseline", ids)
    again.open("confirm", ids)
    assert again.comparison == Comparison(1, 1, 0.05)
    assert again.tainted is not None


def test_the_same_look_for_the_same_reason_is_logged_once(
    corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger("run")
    seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
    seal.open_exploratory(LOOK, ids, reason=REASON)
    state = canonical_state(ledger.events)
    ledger.close()
    resumed = open_ledger("run")
    again = Seal(corpus, lock, resumed, target=TARGET, caller=CALLER)
    again.open_exploratory(LOOK, ids, reason=REASON)
    assert canonical_state(resumed.events) == state
    again.open_exploratory(LOOK, ids, reason="another reason")
    assert len(looked(resumed)) == 2


@pytest.mark.parametrize(
    ("purpose", "reason", "message"),
    [
        ("", "why", "states its purpose and its reason: --exploratory REASON"),
        ("a look", " ", "states its purpose and its reason"),
        ("confirm", "why", "'confirm' is a planned opening; ask for it by open"),
        ("measure the incumbent before the search", "why", "is a planned opening"),
    ],
)
def test_an_exploratory_opening_without_a_reason_or_in_disguise_is_refused(
    purpose: str, reason: str, message: str, seal: Seal, tmp_path: Path
) -> None:
    before = (tmp_path / "run" / "ledger.jsonl").read_bytes()
    with pytest.raises(SealError, match=message):
        seal.open_exploratory(purpose, pytest.fail, reason=reason)
    assert (tmp_path / "run" / "ledger.jsonl").read_bytes() == before


def test_whoever_opens_has_a_name(corpus: Corpus, lock: SplitLock, open_ledger: OpenLedger) -> None:
    with pytest.raises(SealError, match="caller must name a command or a module"):
        Seal(corpus, lock, open_ledger("run"), target=TARGET, caller=" ")


def test_there_is_nothing_to_look_at_before_there_is_a_campaign(
    corpus: Corpus, lock: SplitLock, tmp_path: Path
) -> None:
    with Ledger(tmp_path / "empty" / "ledger.jsonl") as ledger:
        seal = Seal(corpus, lock, ledger, target=TARGET, caller=CALLER)
        with pytest.raises(SealError, match="there is no campaign yet"):
            seal.open_exploratory(LOOK, pytest.fail, reason=REASON)

"""The seal: the only way to held-out examples, in two planned openings per target; every other one taints."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NoReturn, TypeVar

from lineage.errors import CallError, CampaignError, HoldgateError, SealError
from lineage.ledger import Event, Ledger
from lineage.openings import EXPLORATORY, OPENED, taint
from splits.contamination import NgramIndex, SplitSignatures
from splits.corpus import Corpus
from splits.lock import SplitLock, _examples
from splits.register import Comparison, register_opening

Opening = Literal["baseline", "confirm"]
OPENINGS: Final[Mapping[str, str]] = {
    "baseline": "measure the incumbent before the search",
    "confirm": "compare the winner with the incumbent after the choice",
}
"""The planned openings, and what each is for."""

Result = TypeVar("Result")


class Seal:
    """Hands held-out examples to an evaluation, never to a caller, and logs each opening in the ledger.

    ``baseline`` opens before the search, ``confirm`` after the choice of the winner; repeating an opening while its
    campaign resumes is the same opening. Any other opening is exploratory, needs a reason, and taints its campaign. The
    examples exist only inside the function given to :meth:`open` or :meth:`open_exploratory`; what that returns is the
    evaluation's to keep free of text. A seal cannot be pickled, and neither its representation nor its attributes hold
    text.

    Args:
        corpus: the whole corpus.
        lock: its committed split lock.
        ledger: where openings are logged.
        target: what is compared, one confirmatory comparison each.
        caller: name of the command or module that opens it, for the record.
        exploratory: the reason why this campaign confirms nothing, or None. An exploratory campaign takes no place in
            the register, and everything after its openings is marked.

    Raises:
        SealError: the caller has no name, or the reason of an exploratory campaign is blank.
    """

    __slots__ = ("__part", "_ledger", "_lock", "_opened", "caller", "comparison", "exploratory", "target")

    def __init__(
        self,
        corpus: Corpus,
        lock: SplitLock,
        ledger: Ledger,
        *,
        target: str,
        caller: str,
        exploratory: str | None = None,
    ) -> None:
        if exploratory is not None and not exploratory.strip():
            raise SealError("an exploratory campaign states its reason; give one: --exploratory REASON")
        if not caller.strip():
            raise SealError("whoever opens the seal is on record: caller must name a command or a module")
        part = corpus.part(_examples(lock, corpus, "heldout"))
        self.__part: Callable[[], Corpus] = lambda: part
        self._lock, self._ledger = lock, ledger
        self._opened: list[str] = []
        self.target, self.caller, self.exploratory = target, caller, exploratory
        self.comparison: Comparison | None = None

    @property
    def tainted(self) -> str | None:
        """Why this campaign confirms nothing: its own reason, or an exploratory opening before its verdict."""
        return taint(self._ledger.events) if self.exploratory is None else self.exploratory

    def open(self, opening: Opening, evaluate: Callable[[Corpus], Result]) -> Result:
        """Log a planned opening and give its examples to ``evaluate``.

        Once the campaign is tainted, its openings take no place in the register: nothing they could confirm is left.

        Raises:
            SealError: the opening is not one of the two planned ones, comes out of order or a second time, or the
                held-out split has no confirmatory comparison left.
        """
        if opening not in OPENINGS:
            raise SealError(
                f"opening must be one of {', '.join(OPENINGS)}, got {opening!r}; any other is open_exploratory's"
            )
        logged = self._logged(opening)
        if opening in self._opened or (logged is not None and not self._ledger.replaying):
            raise SealError(f"the {opening} opening of target {self.target!r} has been used; each is made once")
        if opening == "confirm" and "baseline" not in self._opened:
            raise SealError("confirm comes after baseline: the incumbent is measured before the search")
        before = self._ledger.events if logged is None else self._ledger.events[: logged.seq]
        if self.exploratory is None and taint(before) is None:
            self.comparison = register_opening(
                self._lock,
                campaign=self._ledger.campaign,
                target=self.target,
                opening=opening,
                purpose=OPENINGS[opening],
                caller=self.caller,
            )
        body = self._body(opening, OPENINGS[opening], self.exploratory)
        self._ledger.perform(OPENED, body, dict[str, Any])
        self._opened.append(opening)
        return self._evaluated(evaluate)

    def open_exploratory(self, purpose: str, evaluate: Callable[[Corpus], Result], *, reason: str) -> Result:
        """Log an opening beside the planned ones and give its examples to ``evaluate``; nothing after it confirms.

        The same look for the same reason is logged once, so that a campaign that makes one resumes as it began.

        Args:
            purpose: what the examples are opened for.
            evaluate: what looks at them.
            reason: why it is worth that nothing can be confirmed any more.

        Raises:
            SealError: purpose or reason is blank, or the purpose is that of a planned opening.
        """
        if not purpose.strip() or not reason.strip():
            raise SealError("an exploratory opening states its purpose and its reason: --exploratory REASON")
        if purpose in (*OPENINGS, *OPENINGS.values()):
            raise SealError(f"{purpose!r} is a planned opening; ask for it by open()")
        if not self._ledger.events:
            raise SealError("there is no campaign yet whose held-out split could be looked at")
        body = self._body(EXPLORATORY, purpose, reason)
        if not any(event.type == OPENED and body.items() <= event.body.items() for event in self._ledger.events):
            self._ledger.aside(OPENED, body)
        return self._evaluated(evaluate)

    def _evaluated(self, evaluate: Callable[[Corpus], Result]) -> Result:
        """What an evaluation returns; an error that quotes held-out text is raised without its words."""
        try:
            return evaluate(self.__part())
        except Exception as error:  # an endpoint's, or that of a judge's own code: any may quote what it was given
            raised = error
        if self.ngrams().copied("".join(traceback.format_exception(raised))):
            raised = _wordless(raised)
        raise raised

    def _body(self, opening: str, purpose: str, reason: str | None) -> dict[str, Any]:
        place = None if opening == EXPLORATORY else self.comparison
        return {
            "opening": opening,
            "purpose": purpose,
            "target": self.target,
            "caller": self.caller,
            "lock": self._lock.hash,
            "groups": len(self._lock.splits["heldout"]),
            "exploratory": reason,
            "comparison": None if place is None else {"k": place.k, "of": place.of, "alpha": place.alpha},
        }

    def _logged(self, opening: str) -> Event | None:
        """The event of an opening that the ledger holds already, by whichever seal."""
        sought = {"opening": opening, "target": self.target}
        return next((e for e in self._ledger.events if e.type == OPENED and sought.items() <= e.body.items()), None)

    def ngrams(self) -> NgramIndex:
        """Hashes of the held-out texts' n-grams, to tell copies by; this reads no text out and is not an opening."""
        return NgramIndex.of(text for example in self.__part().examples for text in (example.document, example.source))

    def signatures(self) -> SplitSignatures:
        """What held-out texts are known again by, as codes; this reads no text out and is not an opening."""
        return SplitSignatures(self.__part(), split="heldout")

    def __repr__(self) -> str:
        return f"Seal({self.target!r}, {len(self._lock.splits['heldout'])} held-out groups, opened {self._opened})"

    def __reduce__(self) -> NoReturn:
        raise SealError("a seal cannot be pickled or copied: held-out text stays behind it")


def _wordless(error: Exception) -> HoldgateError:
    """An error of the same kind that says nothing of what it was about."""
    if not isinstance(error, CallError):
        return CampaignError(
            f"{type(error).__name__} while held-out examples were judged; what it says quotes held-out text and is "
            "withheld: holdgate noise judges the accept split with the same judge, and may show it"
        )
    return CallError(
        f"a call about held-out examples failed ({error.reason}); what the endpoint said quotes held-out text and is "
        "withheld",
        reason=error.reason,
        transient=error.transient,
        retry_after_s=error.retry_after_s,
        throttled=error.throttled,
        unanswered=error.unanswered,
    )

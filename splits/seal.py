"""The seal: the only way to held-out examples, in two planned openings per target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NoReturn, TypeVar

from lineage.errors import SealError
from lineage.ledger import Ledger
from splits.contamination import NgramIndex
from splits.corpus import Corpus
from splits.lock import SplitLock, _examples
from splits.register import Comparison, register_opening

Opening = Literal["baseline", "confirm"]
OPENINGS: Final = ("baseline", "confirm")

Result = TypeVar("Result")


class Seal:
    """Hands held-out examples to an evaluation, never to a caller, and logs each opening in the ledger.

    ``baseline`` opens before the search, ``confirm`` after the choice of the winner; repeating an opening while its
    campaign resumes is the same opening. The examples exist only inside the function given to :meth:`open`; a seal
    cannot be pickled, and neither its representation nor its attributes hold text.

    Args:
        corpus: the whole corpus.
        lock: its committed split lock.
        ledger: where openings are logged.
        target: what is compared, one confirmatory comparison each.
        exploratory: the reason why this campaign confirms nothing, or None. An exploratory campaign takes no place in
            the register, and everything after its openings is marked.

    Raises:
        SealError: the reason of an exploratory campaign is blank.
    """

    __slots__ = ("__part", "_ledger", "_lock", "_opened", "_target", "comparison", "exploratory")

    def __init__(
        self, corpus: Corpus, lock: SplitLock, ledger: Ledger, *, target: str, exploratory: str | None = None
    ) -> None:
        if exploratory is not None and not exploratory.strip():
            raise SealError("an exploratory campaign states its reason; give one: --exploratory REASON")
        part = corpus.part(_examples(lock, corpus, "heldout"))
        self.__part: Callable[[], Corpus] = lambda: part
        self._lock, self._ledger, self._target = lock, ledger, target
        self._opened: list[str] = []
        self.comparison: Comparison | None = None
        self.exploratory = exploratory

    def open(self, opening: Opening, evaluate: Callable[[Corpus], Result]) -> Result:
        """Log an opening and give its examples to ``evaluate``.

        Raises:
            SealError: the opening is not one of the two planned ones, comes out of order or a second time, or the
                held-out split has no confirmatory comparison left.
        """
        if opening not in OPENINGS:
            raise SealError(f"opening must be one of {', '.join(OPENINGS)}, got {opening!r}")
        if opening in self._opened or (self._logged(opening) and not self._ledger.replaying):
            raise SealError(f"the {opening} opening of target {self._target!r} has been used; each is made once")
        if opening == "confirm" and "baseline" not in self._opened:
            raise SealError("confirm comes after baseline: the incumbent is measured before the search")
        if self.exploratory is None:
            campaign = self._ledger.campaign
            self.comparison = register_opening(self._lock, campaign=campaign, target=self._target, opening=opening)
        place = self.comparison
        self._ledger.perform(
            "seal_opened",
            {
                "opening": opening,
                "target": self._target,
                "lock": self._lock.hash,
                "groups": len(self._lock.splits["heldout"]),
                "exploratory": self.exploratory,
                "comparison": None if place is None else {"k": place.k, "of": place.of, "alpha": place.alpha},
            },
            dict[str, Any],
        )
        self._opened.append(opening)
        return evaluate(self.__part())

    def _logged(self, opening: Opening) -> bool:
        """Whether the ledger holds this opening already, by whichever seal."""
        return any(
            event.type == "seal_opened" and (event.body["opening"], event.body["target"]) == (opening, self._target)
            for event in self._ledger.events
        )

    def ngrams(self) -> NgramIndex:
        """Hashes of the held-out texts' n-grams, to tell copies by; this reads no text out and is not an opening."""
        return NgramIndex.of(text for example in self.__part().examples for text in (example.document, example.source))

    def __repr__(self) -> str:
        return f"Seal({self._target!r}, {len(self._lock.splits['heldout'])} held-out groups, opened {self._opened})"

    def __reduce__(self) -> NoReturn:
        raise SealError("a seal cannot be pickled or copied: held-out text stays behind it")

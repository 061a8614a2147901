"""The error tree. Every message says what is wrong, where, which rule it breaks and what to do.

HoldgateError
├── InputError            the user's input breaks a stated rule; raised before any money is spent
│   ├── CorpusError       a corpus, facts or consultation file (file, line, field)
│   ├── SplitError        a partition or a split lock
│   └── PlanError         a campaign plan
├── CampaignError         a campaign that cannot go on with what it was given
├── SealError             held-out examples asked for outside the two planned openings
├── BlindnessError        a request for facts that holds a document under judgement
├── LedgerError           a ledger that is damaged or belongs to another plan
├── CacheError            a call cache or its export that cannot be read, or is something else
├── BundleError           an archive of a run that is damaged, unsafe to open, or cannot be made or replayed
├── CallError             a model call that did not succeed (carries whether another try may)
├── ModelError            a local model file or server
└── BudgetError           a limit of the plan is reached; the campaign can be resumed
"""


class HoldgateError(Exception):
    """Base class of every error that Holdgate raises on purpose."""


class InputError(HoldgateError):
    """Input that breaks a stated rule."""


class CorpusError(InputError):
    """A corpus, facts or consultation file that breaks its format.

    Args:
        message: what is wrong and what to do.
        file: path of the file.
        line: 1-based line number, if the place is a line.
        field: the offending field, if there is one.
    """

    def __init__(self, message: str, *, file: str = "", line: int | None = None, field: str | None = None) -> None:
        self.file, self.line, self.field = file, line, field
        place = file + (f":{line}" if line is not None else "")
        where = ", ".join(part for part in (place, f"field {field!r}" if field else "") if part)
        super().__init__(f"{where}: {message}" if where else message)


class SplitError(InputError):
    """A partition that cannot be drawn, or a split lock that no longer holds."""


class PlanError(InputError):
    """A campaign plan that breaks its schema or contradicts itself."""


class CampaignError(HoldgateError):
    """A campaign cannot go on with what it was given."""


class SealError(HoldgateError):
    """Held-out examples were asked for outside the planned openings."""


class BlindnessError(HoldgateError):
    """A request for the facts of a source holds a document that is judged against them."""


class LedgerError(HoldgateError):
    """A ledger that is damaged, or that belongs to another plan."""


class CacheError(HoldgateError):
    """A call cache, or an export of one, that cannot be read, is damaged, or is something else."""


class BundleError(HoldgateError):
    """An archive of a run that is damaged, unsafe to open, or cannot be made or replayed."""


class CallError(HoldgateError):
    """A model call that did not succeed.

    Args:
        message: what happened, in words.
        reason: short machine-readable reason, such as ``transport`` or ``refused_parameter``.
        transient: whether the same call may succeed later.
        retry_after_s: seconds after which the endpoint asks to be called again, if it says so.
        throttled: whether the endpoint turned the call away for too many requests.
        unanswered: whether the call may have reached the model, so that it may be paid for without an answer.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        transient: bool,
        retry_after_s: float | None = None,
        throttled: bool = False,
        unanswered: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason, self.transient, self.retry_after_s = reason, transient, retry_after_s
        self.throttled, self.unanswered = throttled, unanswered


class ModelError(HoldgateError):
    """A local model file is missing or wrong, or its server does not run."""


class BudgetError(HoldgateError):
    """A limit of the plan is reached. What was paid for is kept; the campaign can be resumed."""

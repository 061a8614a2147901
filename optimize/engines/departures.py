"""In what a rival engine is not used as its authors use it, for the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SHARED: Final = (
    "Examples, rewards and calls are ours: reflect is its training set, accept its validation set, the metric is the "
    "reward of our own search, and every judgement is made on the campaign's bench with its cache, seeds and limits.",
    "Choice of winner: ours, on accept, from every candidate that it judged on all of accept. Its own best is ignored.",
    "An example without a score counts as 0 in its own sums, as it counts any failure; in our choice and in every "
    "number that is reported it is left out.",
    "A proposal that breaks a rule of validity (empty, cut off, a copy of accept or held-out text, a lost placeholder, "
    "a duplicate) is recorded as invalid and never judged.",
    "The reflector model is sent the plan's budget and temperature, not those that dspy would choose.",
)
_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "dspy-gepa": (
        "dspy.GEPA at its defaults (minibatches of 3 examples, one parent from the Pareto frontier, strict improvement "
        "on the minibatch), but without merge, which does nothing for one component. The plan's iterations and budget "
        "end it, not a number of metric calls.",
        "Its feedback is the text that our own reflector is given about each example.",
    ),
    "mipro": (
        "MIPROv2 without demonstrations in the prompt (both numbers of demonstrations are 0), as only the instruction "
        "may evolve. The demonstrations that it makes from reflect examples inform its proposals alone.",
        "It proposes as many instructions as the plan has iterations, and judges every instruction that its sampler "
        "draws on all of accept instead of on minibatches of it; drawing one again costs nothing.",
        "Its proposer is not shown the program's source, which would be that of the harness; its summary of the data "
        "reads 3 reflect examples a call.",
    ),
}


def departures_of(engine: str) -> tuple[str, ...]:
    """What a reader must know of how a rival engine was run; nothing for our own."""
    return (*_OF[engine], *_SHARED) if engine in _OF else ()

"""The choice of the winner for many simulated campaigns at once: the same choice as `optimize.choice.choose`."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from optimize.simulation.notes import SimulatedNotes, SimulatedScores

CAP: Final = 0.10
"""The cap on false alarms under which `optimize.choice` measures detection."""


def wins_in_halves(scores: SimulatedScores, notes: SimulatedNotes) -> npt.NDArray[np.int64]:
    """Summed credit on omissions in halves, first replicate, shape (campaigns, arms).

    All arms have the same pairs, so the order of these sums is that of paired discrimination.
    """
    return np.asarray(scores.halves(notes)[:, :, 0].sum(axis=(2, 3), dtype=np.int64))


def detected(scores: SimulatedScores, notes: SimulatedNotes) -> npt.NDArray[np.int64]:
    """Flawed notes flagged at a false-alarm rate of at most 0.10, first replicate, shape (campaigns, arms).

    The most sensitive allowed threshold is the clean score above which the cap would be broken: with at most k false
    alarms allowed it is the (k+1)th lowest clean score, which is itself observed.
    """
    clean, flawed = scores.clean[:, :, 0], scores.flawed[:, :, 0]
    groups = clean.shape[-1]
    allowed = max(k for k in range(groups) if k / groups <= CAP)
    threshold = np.partition(clean, allowed, axis=-1)[..., allowed]
    flagged = flawed < threshold[..., None, None]
    return np.asarray((flagged & notes.present[:, None]).sum(axis=(2, 3), dtype=np.int64))


def choose_winners(ranks: npt.NDArray[np.int64], *, candidates: int) -> npt.NDArray[np.int64]:
    """Place of each campaign's winner among the baseline (0) and its first candidates, shape (campaigns,).

    Prompts grow as a search goes on, so of two that are level in both measures the earlier is chosen, which is the
    shorter too; the baseline is the shortest.

    Args:
        ranks: shape (campaigns, arms), from `ranks_of`.
        candidates: how many of the candidates the choice sees.
    """
    return np.asarray(ranks[:, : candidates + 1].argmax(axis=1))


def ranks_of(scores: SimulatedScores, notes: SimulatedNotes, absent: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """What orders the arms of a campaign: paired discrimination, then detection; -1 for an absent candidate.

    Args:
        scores: of the baseline and all candidates on accept.
        notes: of accept.
        absent: shape (campaigns, arms), candidates that the search never accepted.
    """
    most = int(notes.present.shape[1] * notes.present.shape[2]) + 1
    ranks = wins_in_halves(scores, notes) * most + detected(scores, notes)
    return np.where(absent, -1, ranks)

"""Flag rates at a threshold, and the sweep for the most sensitive threshold under a cap on false alarms.

The rule is always: flag a document if its score is strictly below the threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lineage.errors import InputError
from optimize.stats.classical import wilson
from optimize.stats.groups import Floats
from optimize.stats.results import Interval

NO_FLAWED = "there is no flawed document"
NO_CLEAN = "there is no clean document, so no threshold can be held to a false-alarm rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagRates:
    """How often documents are flagged at one threshold.

    Both intervals are Wilson's and take documents as independent; several flawed documents of one consultation make the
    interval of detection too narrow. For inference use the grouped statistics on the 0/1 flags.

    Attributes:
        detection: share of flawed documents flagged, in [0, 1]; NaN without flawed documents.
        false_alarm: share of clean documents flagged, in [0, 1]; NaN without clean documents.
        threshold: flag if score < threshold, on the scale of the scores; NaN where none could be chosen.
        n_flawed: flawed documents.
        n_clean: clean documents.
        detection_interval: Wilson interval of detection.
        false_alarm_interval: Wilson interval of false_alarm.
        reason: why a rate is undefined; empty where both are defined.
    """

    detection: float
    false_alarm: float
    threshold: float
    n_flawed: int
    n_clean: int
    detection_interval: Interval
    false_alarm_interval: Interval
    reason: str = ""

    @property
    def method(self) -> str:
        """How the threshold came about."""
        return "flag rates at a threshold fixed beforehand"

    @property
    def detected(self) -> int:
        """Flawed documents flagged; 0 where detection is undefined."""
        return 0 if math.isnan(self.detection) else round(self.detection * self.n_flawed)

    @property
    def false_alarms(self) -> int:
        """Clean documents flagged; 0 where the false-alarm rate is undefined."""
        return 0 if math.isnan(self.false_alarm) else round(self.false_alarm * self.n_clean)

    def __str__(self) -> str:
        if math.isnan(self.threshold):
            return f"detection undefined: {self.reason}"
        parts = [
            f"detection {self.detection:.3f} ({self.detected} of {self.n_flawed})" if self.n_flawed else NO_FLAWED,
            f"false alarms {self.false_alarm:.3f} ({self.false_alarms} of {self.n_clean})"
            if self.n_clean
            else "there is no clean document",
        ]
        return f"{', '.join(parts)}, flagging scores below {self.threshold:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionAtFa(FlagRates):
    """Flag rates at the most sensitive threshold whose false-alarm rate is within the cap.

    The threshold was chosen on the same documents, so detection is optimistic and the false-alarm rate on new documents
    may exceed the cap; with few clean documents by a lot. Only a threshold fixed beforehand gives honest rates.

    Attributes:
        cap: the highest false-alarm rate allowed, in [0, 1].
    """

    cap: float

    @property
    def method(self) -> str:
        """How the threshold came about."""
        return f"most sensitive of all observed thresholds with false alarms <= {self.cap:g}"


def flag_rates(flawed: npt.ArrayLike, clean: npt.ArrayLike, threshold: float) -> FlagRates:
    """Flag rates at a threshold that was fixed beforehand.

    Args:
        flawed: scores of flawed documents, shape (n_flawed,), higher is a better document.
        clean: scores of clean documents, shape (n_clean,), on the same scale.
        threshold: flag if score < threshold.

    Raises:
        InputError: a score or the threshold is not finite.
    """
    if not math.isfinite(threshold):
        raise InputError(f"threshold must be finite, got {threshold}")
    below, above = scores_of("flawed", flawed), scores_of("clean", clean)
    detected, alarms = int(np.count_nonzero(below < threshold)), int(np.count_nonzero(above < threshold))
    return FlagRates(
        detection=detected / len(below) if len(below) else math.nan,
        false_alarm=alarms / len(above) if len(above) else math.nan,
        threshold=float(threshold),
        n_flawed=len(below),
        n_clean=len(above),
        detection_interval=wilson(detected, len(below)),
        false_alarm_interval=wilson(alarms, len(above)),
        reason="" if len(below) and len(above) else (NO_CLEAN if len(below) else NO_FLAWED),
    )


def detection_at_fa(flawed_scores: npt.ArrayLike, clean_scores: npt.ArrayLike, *, cap: float = 0.10) -> DetectionAtFa:
    """Detection at the most sensitive threshold whose false-alarm rate on clean documents is at most ``cap``.

    Thresholds are all observed scores, flawed and clean. The lowest of them flags nothing, so one is always within
    the cap. Ties in detection go to the lower false-alarm rate, then to the lower threshold. Both rates rise with the
    threshold; the highest observed score is never flagged, even where the cap would allow it.

    Args:
        flawed_scores: shape (n_flawed,), higher is a better document.
        clean_scores: shape (n_clean,), on the same scale.
        cap: in [0, 1].

    Returns:
        The rates at that threshold; undefined, with a reason, without flawed or without clean documents.

    Raises:
        InputError: a score is not finite, or the cap is outside [0, 1].
    """
    if not 0.0 <= cap <= 1.0:
        raise InputError(f"cap must be in [0, 1], got {cap:g}; use 0.10 for one false alarm in ten clean documents")
    flawed, clean = np.sort(scores_of("flawed_scores", flawed_scores)), np.sort(scores_of("clean_scores", clean_scores))
    if not len(flawed) or not len(clean):
        undefined = wilson(0, 0)
        return DetectionAtFa(
            detection=math.nan,
            false_alarm=math.nan,
            threshold=math.nan,
            n_flawed=len(flawed),
            n_clean=len(clean),
            detection_interval=undefined,
            false_alarm_interval=undefined,
            reason=NO_CLEAN if len(flawed) else NO_FLAWED,
            cap=cap,
        )
    thresholds = np.unique(np.concatenate([flawed, clean]))
    detected = np.searchsorted(flawed, thresholds, side="left")
    alarms = np.searchsorted(clean, thresholds, side="left")
    allowed = alarms / len(clean) <= cap
    # Thresholds ascend and both rates with them: the first of the most sensitive has the lowest false-alarm rate.
    best = int(np.flatnonzero(allowed & (detected == detected[allowed].max()))[0])
    rates = flag_rates(flawed, clean, float(thresholds[best]))
    return DetectionAtFa(
        detection=rates.detection,
        false_alarm=rates.false_alarm,
        threshold=rates.threshold,
        n_flawed=rates.n_flawed,
        n_clean=rates.n_clean,
        detection_interval=rates.detection_interval,
        false_alarm_interval=rates.false_alarm_interval,
        cap=cap,
    )


def scores_of(name: str, values: npt.ArrayLike) -> Floats:
    """Scores as a finite array of shape (n,)."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(f"{name} must be of shape (n,), got {scores.shape}")
    if not np.isfinite(scores).all():
        where = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(f"{name} must be finite, got {scores[where]} at position {where}; leave failed documents out")
    return scores

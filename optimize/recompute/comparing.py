"""Comparing what was recorded with what is computed again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lineage.audit import Finding, Severity
from lineage.ledger import Event

TOLERANCE: Final = 1e-9
"""Relative difference that is laid to another machine's last bit rather than to an edit."""

_SENTENCE: Final = re.compile(r"(\S+\.)?(words|reason)(\[\d+\])?: ")
REMEDY: Final = "restore the run directory from a copy, or run the version of Holdgate that wrote it"


def differences(recorded: Any, computed: Any, *, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, in words; numbers may differ in their last bits."""
    if isinstance(recorded, Mapping) and isinstance(computed, Mapping):
        for key in sorted({*recorded, *computed}):
            yield from differences(recorded.get(key), computed.get(key), path=f"{path}.{key}" if path else str(key))
    elif isinstance(recorded, list | tuple) and isinstance(computed, list | tuple):
        if len(recorded) != len(computed):
            yield f"{path}: {len(recorded)} recorded, {len(computed)} computed"
        for index, pair in enumerate(zip(recorded, computed, strict=False)):
            yield from differences(*pair, path=f"{path}[{index}]")
    elif type(recorded) is float and isinstance(computed, int | float) and not isinstance(computed, bool):
        if not math.isclose(recorded, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path}: recorded {recorded!r}, computed {computed!r}"
    elif recorded != computed:
        yield f"{path}: recorded {recorded!r}, computed {computed!r}"


def compared(event: Event, recorded: Any, computed: Any, *, reworded: bool = False) -> Iterator[Finding]:
    """Findings of the differences; in sentences they are warnings if another version may word them otherwise."""
    for words in differences(recorded, computed):
        sentence = _SENTENCE.match(words) is not None
        severity: Severity = "warning" if reworded and sentence else "error"
        yield Finding(severity, f"seq {event.seq} {event.type}", words, REMEDY)

"""What a name that is not known was perhaps meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known name that is nearest to a misspelt one, or all of them where none is near, as the end of a message."""
    names = list(known)
    near = get_close_matches(name, names, n=1) or get_close_matches(name.lower(), names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, names)) or 'none'}"

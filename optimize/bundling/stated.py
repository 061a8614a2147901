"""What the manifest of a bundle must say of the run in it, as somebody else may have written anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lineage.bundle import MANIFEST, Extracted
from lineage.errors import BundleError

KINDS: Final[Mapping[str, type]] = {
    "name": str,
    "kind": str,
    "campaign": str,
    "state": str,
    "packed_by": str,
    "head": dict,
    "software": dict,
    "corpus": dict,
    "replay": dict,
}
INNER: Final[Mapping[tuple[str, str], tuple[type, ...]]] = {
    ("head", "count"): (int,),
    ("head", "hash"): (str,),
    ("corpus", "hash"): (str, type(None)),
    ("corpus", "packed"): (bool,),
    ("replay", "possible"): (bool,),
    ("replay", "calls"): (int,),
    ("replay", "reason"): (str, type(None)),
}
WITHHELD: Final[Mapping[str, type]] = {"what": str, "texts": int, "events": dict, "segments": dict, "left_out": dict}


def check_stated(found: Extracted) -> None:
    """Refuse a manifest that does not say what it must.

    Raises:
        BundleError: naming the first field that is missing or is something else.
    """
    said: Mapping[str, Any] = found.manifest
    wrong = [name for name, kind in KINDS.items() if type(said.get(name)) is not kind]
    if not wrong:
        wrong = [
            f"{outer}.{name}" for (outer, name), kinds in INNER.items() if type(said[outer].get(name)) not in kinds
        ]
    withheld = said.get("withheld")
    if not wrong and withheld is not None:
        sound = isinstance(withheld, dict)
        wrong = [
            f"withheld.{name}" for name, kind in WITHHELD.items() if not sound or type(withheld.get(name)) is not kind
        ]
    if wrong:
        raise BundleError(f"{MANIFEST}: {wrong[0]} is missing or is something else; get the bundle again")

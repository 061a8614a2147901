"""A pickle that somebody else wrote, read without running anything of theirs.

A pickle is a program: loading one as usual does whatever it says. Here a class or function that it names is looked up
in a short list of containers, and of stand-ins that hold data and do nothing; whatever else it names is refused.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from lineage.errors import InputError

LARGEST: Final = 512 * 2**20
"""Most bytes of a pickle that is read."""

_CONTAINERS: Final[Mapping[tuple[str, str], Callable[..., Any]]] = {
    **{
        (module, kind.__name__): kind
        for module in ("builtins", "__builtin__")  # as protocols 3 and up name it, and those before
        for kind in (set, frozenset, list, dict)
    },
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
}
_INERT: Final = (
    ("gepa.core.state", "CachedEvaluation"),
    ("gepa.core.state", "EvaluationCache"),
    ("gepa.core.state", "GEPAState"),
    ("gepa.core.state", "ValsetEvaluation"),
)
"""Classes of the optimiser, of which the data are taken and nothing is run."""
_NUMBER_KINDS: Final = "biuf"
"""Kinds of array-library numbers that are read: truth values, integers and floats."""


def load_restricted(data: bytes, *, where: str) -> Any:
    """The value in a pickle, of plain data alone.

    Args:
        data: the pickle.
        where: its place, for messages.

    Raises:
        InputError: it names a class or function that is not on the list, is too large, or is no pickle.
    """
    if len(data) > LARGEST:
        raise InputError(f"{where}: has {len(data):,} bytes, more than the {LARGEST:,} that are read of a pickle")
    try:
        return _Restricted(data, where).load()
    except InputError:
        raise
    except RecursionError as error:
        raise InputError(f"{where}: is nested too deeply to be a saved search") from error
    except Exception as error:  # a damaged pickle may raise anything
        raise InputError(
            f"{where}: is not a readable pickle ({type(error).__name__}: {error}); get the file again"
        ) from error


class _Restricted(pickle.Unpickler):
    """Finds what is on the list, in stand-ins of its own: a pickle may set their attributes, and no one else's."""

    def __init__(self, data: bytes, where: str) -> None:
        super().__init__(io.BytesIO(data))
        self._where = where
        self._known: dict[tuple[str, str], Callable[..., Any]] = {**_CONTAINERS}
        for module, name in _INERT:
            self._known[module, name] = type(name, (), {})
        kind = type("Kind", (), {"__init__": _set_kind, "__setstate__": _ignore})
        self._known["numpy", "dtype"] = kind
        self._known["_codecs", "encode"] = _bytes
        for module in ("builtins", "__builtin__"):
            self._known[module, "bytes"] = self._known[module, "bytearray"] = _copied_bytes
        for module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            self._known[module, "scalar"] = lambda of, raw: _number(of, raw, kind)

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names, if it is on the list."""
        found = self._known.get((module, name))
        if found is None:
            raise InputError(
                f"{self._where}: names {module}.{name}, which is not data of a saved search, and is not loaded; "
                "nothing of the file was run. Save the result as JSON instead: json.dumps(result.to_dict(), "
                "default=str)"
            )
        return found

    def persistent_load(self, pid: object) -> Any:
        """Refused: what it stands for is not in the file."""
        raise InputError(f"{self._where}: refers to something outside of the file ({pid!r}), and is not loaded")


def _bytes(text: str, encoding: str = "latin1") -> bytes:
    """Bytes as protocols before 3 write them: as text of the same numbers."""
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("bytes in an unknown form")
    return text.encode("latin1")


def _copied_bytes(*data: Any) -> bytes:
    """Bytes out of bytes; out of a number they would be as many as somebody else likes."""
    if data and not isinstance(data[0], bytes):
        raise ValueError("bytes that are made of something else")
    return bytes(*data[:1])


def _set_kind(self: Any, code: str, *_: object) -> None:
    self.code = code


def _ignore(self: Any, state: object) -> None:
    """The byte order of a number; what is read here is little-endian, as the code says."""


def _number(of: Any, raw: Any, kind: type) -> bool | int | float:
    """A number out of its bytes."""
    code = getattr(of, "code", None)
    if type(of) is not kind or not isinstance(code, str) or not isinstance(raw, bytes):
        raise ValueError("an array number that is none")
    plain = np.dtype(code)
    if plain.kind not in _NUMBER_KINDS or len(raw) != plain.itemsize:
        raise ValueError(f"an array number of kind {code!r}")
    found: bool | int | float = np.frombuffer(raw, dtype=plain.newbyteorder("<"))[0].item()
    return found

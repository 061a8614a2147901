"""A pickle that somebody else wrote: data are read, and nothing that it names is run."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.errors import InputError
from optimize.importing.unpickling import load_restricted

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner) | st.sets(st.integers()).map(frozenset)
    ),
    max_leaves=20,
)


class Hostile:
    """Runs a command as it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


class Calling:
    """Reduces to any call."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


@given(PLAIN)
def test_plain_data_come_out_as_they_went_in(value: Any) -> None:
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        assert load_restricted(pickle.dumps(value, protocol), where="x") == value


def test_containers_and_array_numbers_are_read_as_what_they_hold() -> None:
    value = {
        "a": OrderedDict(x=1),
        "b": defaultdict(list, {"y": [2]}),
        "c": {3},
        "d": np.float64(0.25),
        "e": np.int32(7),
    }
    found = load_restricted(pickle.dumps(value), where="x")
    assert found == {"a": {"x": 1}, "b": {"y": [2]}, "c": {3}, "d": 0.25, "e": 7}
    assert (type(found["d"]), type(found["e"])) == (float, int)


def test_a_hostile_pickle_is_refused_by_the_name_of_what_it_calls_and_nothing_is_run(tmp_path: Path) -> None:
    data = pickle.dumps({"program_candidates": [Hostile(tmp_path / "ran")]})
    with pytest.raises(InputError, match=r"saved\.bin: names posix\.system, which is not data"):
        load_restricted(data, where="saved.bin")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Calling(eval, "1"), r"builtins\.eval"),
        (Calling(getattr, "x", "upper"), r"builtins\.getattr"),
        (Calling(__import__, "os"), r"builtins\.__import__"),
        (Calling(os.popen, "true"), r"os\.popen"),
        (sys.exit, r"sys\.exit"),
        (np.zeros(3), r"numpy.*_reconstruct"),
        (Path("x"), r"pathlib"),
    ],
)
def test_every_other_name_is_refused(value: Any, name: str) -> None:
    with pytest.raises(InputError, match=f"names {name}"):
        load_restricted(pickle.dumps(value), where="x")


def test_no_memory_is_taken_that_the_file_does_not_have() -> None:
    with pytest.raises(InputError, match="made of something else"):
        load_restricted(b"cbuiltins\nbytearray\n(I99999999999\ntR.", where="x")


def test_a_dotted_name_does_not_reach_into_what_is_allowed() -> None:
    data = b"\x80\x04\x8c\x08builtins\x8c\x0fset.__class__.x\x93."
    with pytest.raises(InputError, match=r"names builtins\.set\.__class__"):
        load_restricted(data, where="x")


def test_a_name_in_a_protocol_without_frames_is_refused_too() -> None:
    with pytest.raises(InputError, match=r"names os\.system"):
        load_restricted(b"cos\nsystem\n(S'true'\ntR.", where="x")


def test_something_outside_of_the_file_is_not_followed() -> None:
    with pytest.raises(InputError, match="outside of the file"):
        load_restricted(b"Pelsewhere\n.", where="x")


def test_an_object_of_the_optimiser_is_its_data_alone_and_no_code_of_it_is_run() -> None:
    from gepa.core.state import CachedEvaluation, EvaluationCache

    cache: Any = EvaluationCache()
    cache._cache["a", 0] = CachedEvaluation("out", 0.5, None)
    found = load_restricted(pickle.dumps({"evaluation_cache": cache}), where="x")["evaluation_cache"]
    assert type(found).__module__ != "gepa.core.state"
    assert found._cache["a", 0].score == 0.5


@pytest.mark.parametrize("kind", ["O", "V8", "S8", "M8"])
def test_an_array_number_of_objects_or_raw_memory_is_refused(kind: str) -> None:
    scalar = pickle.dumps(np.float64(0.5), 2).replace(
        b"X\x02\x00\x00\x00f8", b"X\x02\x00\x00\x00" + kind.ljust(2).encode()
    )
    with pytest.raises(InputError, match="is not a readable pickle"):
        load_restricted(scalar, where="x")


def test_what_a_pickle_does_to_its_own_stand_ins_is_not_there_for_the_next() -> None:
    data = (
        b"\x80\x04\x8c\x0fgepa.core.state\x8c\tGEPAState\x93"
        b"N}\x8c\x06marked\x8c\x03yessb\x86b."  # sets an attribute of the class itself
    )
    try:
        first = load_restricted(data, where="x")
    except InputError:
        first = None
    fresh = load_restricted(b"\x80\x04\x8c\x0fgepa.core.state\x8c\tGEPAState\x93.", where="x")
    assert fresh is not first
    assert not hasattr(fresh, "marked")


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_and_nothing_else_is_raised(data: bytes) -> None:
    with contextlib.suppress(InputError):
        load_restricted(data, where="x")


def test_more_bytes_than_are_read_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimize.importing.unpickling.LARGEST", 10)
    with pytest.raises(InputError, match="more than the 10"):
        load_restricted(pickle.dumps(list(range(100))), where="x")

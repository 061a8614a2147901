"""The error tree and what its members say."""

from __future__ import annotations

import pickle

import pytest

from lineage import errors
from lineage.errors import CallError, CorpusError, HoldgateError, InputError


def test_every_error_is_a_holdgate_error_and_stands_in_the_drawn_tree() -> None:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert issubclass(kind, HoldgateError)
            assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("kind", [errors.CorpusError, errors.SplitError, errors.PlanError])
def test_input_errors_can_be_told_from_the_rest(kind: type[Exception]) -> None:
    assert issubclass(kind, InputError)
    assert not issubclass(errors.SealError, InputError)
    assert not issubclass(errors.BudgetError, InputError)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"file": "corpus.jsonl", "line": 3, "field": "twin"}, "corpus.jsonl:3, field 'twin': is missing"),
        ({"file": "corpus.jsonl", "line": 3}, "corpus.jsonl:3: is missing"),
        ({"file": "corpus.jsonl"}, "corpus.jsonl: is missing"),
        ({"field": "note"}, "field 'note': is missing"),
        ({}, "is missing"),
    ],
)
def test_a_corpus_error_names_the_place_as_far_as_it_is_known(place: dict[str, object], message: str) -> None:
    error = CorpusError("is missing", **place)  # type: ignore[arg-type]  # its keywords
    assert str(error) == message
    assert (error.file, error.line, error.field) == (place.get("file", ""), place.get("line"), place.get("field"))


def test_a_corpus_error_keeps_its_place_between_processes() -> None:
    error = pickle.loads(pickle.dumps(CorpusError("is missing", file="a", line=2, field="id")))
    assert (str(error), error.line) == ("a:2, field 'id': is missing", 2)


def test_a_call_error_says_whether_another_try_may_succeed() -> None:
    error = CallError("too many requests", reason="rate_limit", transient=True, retry_after_s=2.5)
    assert (str(error), error.transient, error.retry_after_s) == ("too many requests", True, 2.5)

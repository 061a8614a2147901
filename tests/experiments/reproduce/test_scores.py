"""Accept scores as a table of our own: what is read, and what is refused by file, line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.reproduce.scores import FILE, read_scores
from lineage.errors import InputError

TABLE = """note_key,consultation,class,kind,trace,one,two
c1,g1,clean,clean,,1.0,9
o1,g1,omission,omitpw,partial-weak,0.5,9
o2,g1,omission,omit,,1.0,8
a1,g1,commission,add,,0.9,10
c2,g2,clean,clean,,0.8,7
"""


def scores(tmp_path: Path, text: str = TABLE):  # type: ignore[no-untyped-def]  # inspected below
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    return read_scores(tmp_path)


def test_scores_are_pairs_with_their_twin_by_candidate(tmp_path: Path) -> None:
    found = scores(tmp_path)
    assert list(found) == ["one", "two"]
    assert [(p.example, p.score, p.twin_score, p.trace, p.credit) for p in found["one"].omissions] == [
        ("o1", 0.5, 1.0, "partial-weak", 1.0),
        ("o2", 1.0, 1.0, None, 0.5),
    ]
    assert [p.credit for p in found["two"].commissions] == [0.0]
    assert found["two"].clean == {"g1": 9.0, "g2": 7.0}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class,kind,trace", "class,kind,path", r"scores\.csv: column trace is missing"),
        ("0.5,9", "half,9", r"scores\.csv:3: column 'one' must be a score, got 'half'"),
        ("0.5,9", "nan,9", r"scores\.csv:3: column 'one' must be finite, got 'nan'"),
        ("0.5,9", "0.5", r"scores\.csv:3: the row has not as many fields as the header"),
        ("0.5,9", "0.5,9,9", r"scores\.csv:3: the row has not as many fields as the header"),
        ("omitpw", "omitted", r"scores\.csv:3: column 'kind' must be one of clean, .*, got 'omitted'"),
        (
            "partial-weak",
            "complete",
            "column 'trace' of a note of kind 'omitpw' must be 'partial-weak'",
        ),
        ("omission,omit,", "commission,omit,", r"scores\.csv:4: column 'class' of a note of kind 'omit' must be"),
        ("o2,g1", "o2,g9", "'g9' has no clean note"),
        ("o2,g1", "o1,g1", "note 'o1' occurs twice"),
        ("c2,g2", "c2,g1", "clean note of consultation 'g1' occurs twice"),
    ],
)
def test_what_is_not_as_published_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scores(tmp_path, TABLE.replace(old, new, 1))


def test_a_missing_and_an_empty_table_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{FILE}: there is no such file"):
        read_scores(tmp_path)
    with pytest.raises(InputError, match="every row is missing"):
        scores(tmp_path, TABLE.splitlines()[0] + "\n")

"""A misspelt name is answered with the near one, and one that is near to nothing with all that there are."""

from __future__ import annotations

import pytest

from lineage.spelling import suggestion


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("documnet", ["document", "source"], "did you mean 'document'?"),
        ("PriMock75", ["primock57", "medec"], "did you mean 'primock57'?"),
        ("x", ["one name", "b"], "there are 'one name', 'b'"),
        ("x", [], "there are none"),
    ],
)
def test_the_near_name_is_given_or_else_every_name(name: str, known: list[str], said: str) -> None:
    assert suggestion(name, known) == said

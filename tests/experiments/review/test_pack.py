"""A pack holds nothing of its key but its hash, and its key cannot be changed unseen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.review import Pack, PackSizes, ReviewedRun, draw_items, form, make_pack, read_key, write_pack
from lineage.canonical import digest
from lineage.errors import InputError
from tests.experiments.review.conftest import SALT


def test_the_reader_gets_texts_and_no_word_of_the_key(pack: Pack, reviewed: ReviewedRun) -> None:
    page = form(pack.content, pack.key.pack)
    shown = json.dumps(pack.content)
    hidden = {
        SALT,
        f'"{reviewed.name}"',
        reviewed.head.hash,
        reviewed.corpus_hash,
        *(judge.name for judge in reviewed.judges),
    }
    hidden -= {"whole", "facts"}  # words that texts may hold too
    hidden |= {item["example"] for item in pack.key.items.values() if "example" in item}
    hidden |= {item["stratum"] for item in pack.key.items.values()}
    for secret in hidden:
        assert secret not in page
        assert secret not in shown
    for section in pack.content["sections"]:
        for item in section["items"]:
            assert set(item) == {"name", "source", "document", "statement"}


def test_the_pack_is_bound_to_its_key_by_a_hash_that_a_salt_protects(pack: Pack, reviewed: ReviewedRun) -> None:
    assert pack.content["key"] == digest(dict(pack.key.body)) == pack.key.commitment
    draw = draw_items(reviewed, sizes=PackSizes(8, 9, 10), rng=np.random.default_rng(1))
    again, salted = (make_pack(reviewed, draw, seed=1, salt=salt) for salt in (SALT, "6" * 64))
    assert again.content == pack.content
    assert salted.content["sections"] == pack.content["sections"]
    assert salted.content["key"] != pack.content["key"]


def test_a_salt_that_could_be_guessed_is_refused(reviewed: ReviewedRun) -> None:
    draw = draw_items(reviewed, sizes=PackSizes(1, 0, 0), rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="salt must have at least 64 hexadecimal digits, got 2"):
        make_pack(reviewed, draw, seed=1, salt="ab")


def test_names_follow_the_order_shown_and_not_that_of_the_strata(pack: Pack) -> None:
    for section, prefix in (("documents", "D"), ("severity", "S"), ("flags", "F")):
        names = [name for name, item in pack.key.items.items() if item["section"] == section]
        assert names == [f"{prefix}{number:03d}" for number in range(1, len(names) + 1)]
        strata = [pack.key.items[name]["stratum"] for name in names]
        assert strata != sorted(strata)


def test_a_pack_is_written_once_and_its_key_read_back(pack: Pack, tmp_path: Path) -> None:
    paths = write_pack(pack, tmp_path / "review")
    assert read_key(paths.key) == pack.key
    assert paths.form.read_text(encoding="utf-8") == form(pack.content, pack.key.pack)
    with pytest.raises(InputError, match="its answers need this key: give another --out"):
        write_pack(pack, tmp_path / "review")


def test_a_key_that_was_changed_is_refused(pack: Pack, tmp_path: Path) -> None:
    path = write_pack(pack, tmp_path / "review").key
    row = json.loads(path.read_text(encoding="utf-8"))
    row["key"]["items"]["D001"]["label"] = "commission" if row["key"]["items"]["D001"]["label"] == "clean" else "clean"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match="was changed after its pack was made"):
        read_key(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "pack": "", "commitment": "", "key": {}}'])
def test_another_file_is_no_key(tmp_path: Path, text: str) -> None:
    (tmp_path / "key.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"key\.json: is not (the key of a review pack|a key that this version reads)"):
        read_key(tmp_path / "key.json")

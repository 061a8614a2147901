"""``holdgate review``: a blinded pack for people, and their answers joined to its key."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from experiments.cli.campaigns import not_a_run
from experiments.cli.corpora import read_corpus
from experiments.review import (
    PackSizes,
    draw_items,
    make_pack,
    read_answers,
    read_key,
    read_reviewed,
    score_review,
    write_pack,
)
from experiments.review.screen import review_blocks
from experiments.review.sources import SPLITS, corpus_named
from experiments.review.wording import blinding_words
from lineage.errors import InputError


@click.group("review")
def review_group() -> None:
    """Have people judge what judges judged: make a blinded pack, and score the answers to it."""


@review_group.command("pack")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--corpus", "name", help="The corpus that was judged, where it is not a bundled one: file, plan or name.")
@click.option("--facts", type=click.Path(path_type=Path), help="Its facts, where they are in another file.")
@click.option("--split", type=click.Choice(SPLITS), help="Split of a campaign to draw from (default: accept).")
@click.option("--decided", type=click.Path(path_type=Path), help="A decided campaign, for judges of held-out examples.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the draw (default: 0).")
@click.option("--documents", type=click.IntRange(min=0), default=20, help="Whole documents (default: 20).")
@click.option("--severity", type=click.IntRange(min=0), default=20, help="Grades of facts (default: 20).")
@click.option("--flags", type=click.IntRange(min=0), default=20, help="Claims of absence (default: 20).")
@click.option("--out", type=click.Path(path_type=Path), help="Directory for pack and key (default: RUN/review-SEED).")
def pack_command(
    run: Path,
    name: str | None,
    facts: Path | None,
    split: str | None,
    decided: Path | None,
    seed: int,
    documents: int,
    severity: int,
    flags: int,
    out: Path | None,
) -> None:
    """Draw a blinded pack from a judging run or a campaign: pack.html for the reader, key.json for you.

    Drawn by a seed, evenly from strata: documents on which judges differ and agree, facts by their grade, claims that
    something is missing beside facts that were found stated. The page needs no network, and saves answers to a file.
    It holds the key's hash, so that a key changed later is found out, and nothing else of the key. Held-out examples
    are shown only after the campaign is decided.
    """
    if not (run / "ledger.jsonl").is_file():
        raise not_a_run(run)
    named = name or corpus_named(run)
    if named == "":
        raise InputError(f"{run}: is no judging run and no campaign that judged here; there is nothing to review")
    if named is None:
        raise InputError(f"{run} judged a corpus of your own, whose texts it does not hold; name it: --corpus PATH")
    reviewed = read_reviewed(run, read_corpus(named, facts), split=split, decided=decided)
    sizes = PackSizes(documents=documents, severity=severity, flags=flags)
    draw = draw_items(reviewed, sizes=sizes, rng=np.random.default_rng(seed))
    pack = make_pack(reviewed, draw, seed=seed, salt=secrets.token_hex(32))
    paths = write_pack(pack, out or run / f"review-{seed}")
    for words in blinding_words(pack.key):
        click.echo(words)
    click.echo(f"for the reader, and nobody else, as it holds texts of the corpus: {paths.form}")
    click.echo(f"for you, and never for the reader: {paths.key}")
    click.echo(f"then: holdgate review score {paths.key} ANSWERS.json")


@review_group.command("score")
@click.argument("key", type=click.Path(path_type=Path))
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--partial", is_flag=True, help="Count what there is where items have no answer.")
@click.option("--level", type=float, default=0.95, help="Level of the intervals (default: 0.95).")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def score_command(key: Path, answers: tuple[Path, ...], partial: bool, level: float, as_json: bool) -> None:
    """Join the answers of one or more people to the key of their pack.

    Gives each judge's rates against each reader with Wilson intervals, kappa, tables of counts, and how far readers
    agree; says which sections were blinded. Who could not tell is counted apart, in no rate.
    """
    known = read_key(key)
    given = [read_answers(path, known, partial=partial) for path in answers]
    score = score_review(known, given, level=level)
    if as_json:
        click.echo(json.dumps(score.row(), ensure_ascii=False, indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else 140)
    for block in review_blocks(score):
        console.print(block, highlight=False)

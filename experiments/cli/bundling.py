"""``holdgate bundle`` and ``holdgate replay``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from experiments.cli.campaigns import not_a_run
from experiments.loading import find_plan, load_plan_corpus, read_plan
from lineage.errors import BundleError, HoldgateError, InputError
from lineage.ledger import read_events
from optimize.bundling import Packed, pack_run, replay_bundle
from optimize.bundling.replaying import missing_call
from splits import Corpus, load_bundled

SUFFIX: Final = ".bundle.zip"


@click.command("bundle")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help=f"Archive to write, by default RUN{SUFFIX} beside the run."
)
@click.option(
    "--plan", help="The plan that it ran with, which names its corpus; needed where the corpus is not a bundled one."
)
@click.option(
    "--cache", type=click.Path(path_type=Path), help="Its call cache, by default calls.sqlite beside the run."
)
@click.option(
    "--withhold",
    type=click.Choice(["vendor"]),
    help="Leave out the texts of the corpus and all that quotes them: hashes and structure remain.",
)
@click.option("--corpus-hash-only", is_flag=True, help="Pack no corpus, only its hash; it then cannot be replayed.")
def bundle_command(
    run: Path, out: Path | None, plan: str | None, cache: Path | None, withhold: str | None, corpus_hash_only: bool
) -> None:
    """Pack a run into one archive: ledger, judgements, plan, lock, prompts, verdict, corpus and the calls it used.

    A campaign is run again from its recorded answers on the way, so that what is packed is known to be enough.
    holdgate audit BUNDLE checks it elsewhere, and holdgate replay BUNDLE runs it again; neither needs a key or network.

    With --withhold vendor the texts of the corpus are left out, with the answers and prompts that quote them; whatever
    quotes a run of them and cannot be replaced by a hash keeps the bundle from being written. Such a bundle can be
    audited for all but those texts, and cannot be replayed. A hash confirms a guess: a text that can be guessed whole
    is not hidden by it.
    """
    if not (run / "ledger.jsonl").is_file():
        raise not_a_run(run)
    if corpus_hash_only and withhold is not None:
        raise click.UsageError("--corpus-hash-only has no effect with --withhold, which packs no corpus; remove it")
    directory = run.absolute()
    path = out or directory.with_name(directory.name + SUFFIX)
    if path.exists():
        raise InputError(f"{path} is there already; remove it, or give another --out")
    corpus = None if corpus_hash_only else _corpus(directory, plan)
    packed = pack_run(directory, path, corpus=corpus, cache=cache, withhold=withhold is not None)
    _say(packed)


def _corpus(run: Path, plan: str | None) -> Corpus | None:
    """The corpus of a run, from the plan named or from the ledger's own word; None for a run that has none."""
    if plan is not None:
        path = find_plan(plan)
        return load_plan_corpus(read_plan(path), path)
    events = read_events(run / "ledger.jsonl")
    named = events[0].body.get("plan", {}).get("corpus") if events else None
    if named is None:
        return None
    if named["bundled"] is None:
        raise InputError(
            f"{run}: its corpus lies where its plan says; name that plan, --plan FILE, or pack the hash alone: "
            "--corpus-hash-only"
        )
    return load_bundled(named["bundled"])


def _say(packed: Packed) -> None:
    size = sum(member.bytes for member in packed.members)
    click.echo(f"{packed.path}: {len(packed.members)} files, {size:,} bytes before compression")
    if packed.withheld is not None:
        click.echo(f"withheld: {packed.withheld} texts of the corpus; no run of them is left in any file")
        for words in packed.left_out:
            click.echo(f"left out: {words}")
    elif packed.replay is None:
        click.echo(f"replay: ran again from {packed.calls} recorded calls, to an equal canonical replay")
    if packed.replay is not None:
        click.echo(f"cannot be replayed: {packed.replay}")


@click.command("replay")
@click.argument("bundle", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", type=click.Path(path_type=Path), help="New directory to run it in, which is kept.")
def replay_command(bundle: Path, out: Path | None) -> None:
    """Run the campaign of a bundle again from its recorded calls, without model, key or network, and compare.

    Exit status 0 if the canonical replay is equal, 1 if it is not, or if a call has no recorded answer: the first is
    named.
    """
    if out is not None:
        _replay(bundle, out.absolute())
        return
    with tempfile.TemporaryDirectory(prefix="holdgate-replay-") as place:
        _replay(bundle, Path(place))


def _replay(bundle: Path, directory: Path) -> None:
    try:
        found = replay_bundle(bundle, directory)
    except HoldgateError as error:
        if missing_call(error):
            click.echo(f"not replayed: {error}", err=True)
            sys.exit(1)
        if isinstance(error, BundleError):
            raise
        raise BundleError(f"{bundle}: the campaign could not be run again: {error}") from error
    click.echo(f"{bundle}: ran again from {found.calls} recorded calls")
    if found.versions is not None:
        click.echo(f"written by version {found.versions[0]}, replayed by {found.versions[1]}")
    if found.equal:
        click.echo(f"equal: both canonical replays are {found.recorded}")
        return
    click.echo(f"not equal: recorded {found.recorded}, replayed {found.found}")
    for words in found.difference:
        click.echo(f"  {words}")
    sys.exit(1)

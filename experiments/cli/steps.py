"""``holdgate steps``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from experiments.cli.corpora import corpus_files
from experiments.judging.screen import JudgingView, say, show_sheet
from experiments.steps.evaluating import Evaluated, evaluate_plan
from experiments.steps.loading import load_steps_plan, verifiers_of
from experiments.steps.planning import write_eval_plan
from experiments.steps.scoring import score_note
from experiments.steps.screen import show_built, show_score
from experiments.steps.sheets import report_sheets
from experiments.steps.writing import write_report
from lineage.errors import InputError
from optimize.judging import JudgingRun
from optimize.steps import VerifierScores, steps_report
from splits import load_corpus, load_lock
from splits.near_duplicates import near_duplicate_groups
from splits.steps import (
    ERRORS,
    KINDS,
    PRESETS,
    BuildSettings,
    Granularity,
    build_steps,
    fresh_parts,
    parts_of_lock,
    write_steps,
)
from students.steps import prompt_hashes, step_messages

AsJson = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


@click.group("steps")
def steps_group() -> None:
    """Judge notes step by step: build training data for a verifier, score a note, and evaluate verifiers."""


@steps_group.command("build")
@click.argument("name", metavar="NAME|PATH")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Directory for the files.")
@click.option("--facts", type=click.Path(path_type=Path), help="The facts.jsonl that goes with the corpus.")
@click.option("--lock", type=click.Path(path_type=Path), help="Split lock: reflect trains, accept validates.")
@click.option("--fractions", default="0.6,0.2,0.2", show_default=True, help="Train, validation, test; without a lock.")
@click.option("--granularity", default="fine", show_default=True, help=f"{', '.join(PRESETS)}, or {'+'.join(KINDS)}.")
@click.option("--errors", default=",".join(ERRORS), show_default=True, help="Kinds of errors to inject.")
@click.option("--copies", type=click.IntRange(0), default=1, show_default=True, help="Notes with an error, a kind.")
@click.option("--paraphrases", type=click.IntRange(0), default=1, show_default=True, help="Notes in other words.")
@click.option("--no-twins", "no_twins", is_flag=True, help="Leave the corpus's own flawed notes out.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all draws.")
@AsJson
def build_command(
    name: str,
    out: Path,
    facts: Path | None,
    lock: Path | None,
    fractions: str,
    granularity: str,
    errors: str,
    copies: int,
    paraphrases: int,
    no_twins: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Turn a corpus into step-labelled notes, and into the chat lines that trainers read. Nothing is called.

    NAME is a bundled corpus, a corpus.jsonl or a directory that holds one. Each clean note is kept, put into other
    words, and given one error of each kind; every step has a label. A group is in one part only, and with a lock its
    held-out groups are in none.

    \b
    For each part:
      PART.corpus.jsonl   the notes, to be judged by any plan; PART.facts.jsonl where there are facts
      PART.steps.jsonl    a row a step: its place, its text, its label, where it comes from
      PART.chat.jsonl     a conversation a step: what a verifier is asked, and its label as the answer
    steps.json says how all of it was made, and eval.yaml evaluates a verifier on what was not trained on.
    """  # noqa: D301 - click reads the escape as: keep these lines
    files = corpus_files(name, facts)
    corpus = load_corpus(files.corpus, facts=files.facts)
    if lock is not None:
        if fractions != "0.6,0.2,0.2":
            raise InputError("--fractions has no effect with --lock, whose splits are taken; leave it out")
        parts = parts_of_lock(load_lock(lock, corpus))
    else:
        shares = [_share(text) for text in fractions.split(",")]
        united = [sorted(groups) for groups in near_duplicate_groups(corpus)]
        parts = fresh_parts(corpus, seed=seed, fractions=shares, united=united)
    kinds = tuple(error.strip() for error in errors.split(",") if error.strip())
    settings = BuildSettings(
        errors=kinds,  # type: ignore[arg-type]  # checked by the settings themselves
        copies=copies,
        paraphrases=paraphrases,
        twins=not no_twins,
        seed=seed,
    )
    manifest = write_steps(
        out,
        corpus,
        parts,
        build_steps(corpus, parts, settings),
        settings,
        granularity=Granularity.of(granularity),
        render=step_messages,
        prompts=prompt_hashes(),
    )
    plan = write_eval_plan(out, manifest)
    if as_json:
        click.echo(json.dumps(manifest, ensure_ascii=False, indent=2))
        return
    show_built(Console(width=None if sys.stdout.isatty() else 140), out, manifest, plan)


@steps_group.command("score")
@click.argument("plan")
@click.option("--note", type=click.Path(path_type=Path), required=True, help="File with the note.")
@click.option("--source", type=click.Path(path_type=Path), help="File with what it was written from.")
@click.option("--student", help="Which step verifier of the plan (default: the first).")
@click.option("--cache", type=click.Path(path_type=Path), help="Call cache (default: runs/calls.sqlite).")
@AsJson
def score_command(
    plan: str, note: Path, source: Path | None, student: str | None, cache: Path | None, as_json: bool
) -> None:
    """Score one note step by step with a verifier of a plan, and name its first bad step.

    PLAN is a judging plan with a student of shape step-verifier, or a bundled one: steps, simulated-steps. Only its
    model and its student are used. Exit status 0 if there is a score, 2 if a step was not read.
    """
    found = score_note(
        load_steps_plan(plan, only=() if student is None else (student,)),
        note,
        source=source,
        cache=(cache or Path("runs") / "calls.sqlite").absolute(),
    )
    if as_json:
        click.echo(json.dumps(found.row(), ensure_ascii=False, indent=2))
    else:
        show_score(Console(width=None if sys.stdout.isatty() else 120), found)
    sys.exit(0 if found.judgement.score is not None else 2)


@steps_group.command("eval")
@click.argument("plan")
@click.option("--transfer", multiple=True, metavar="PLAN", help="A plan with independently made errors; repeatable.")
@click.option("--students", metavar="A,B", help="Only these step verifiers of the plan.")
@click.option("--out", type=click.Path(path_type=Path), help="Directory (default: runs/NAME-steps); resumed if there.")
@AsJson
def eval_command(
    plan: str,
    transfer: tuple[str, ...],
    students: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Evaluate step verifiers: judge the notes of a plan step by step, and measure what the steps are worth.

    PLAN is a judging plan (see holdgate judge --schema) with students of shape step-verifier, such as the eval.yaml of
    a build, or a bundled one: steps, simulated-steps. Each --transfer plan names verifiers as PLAN does; its corpus
    has errors that nobody injected by rule, and its figures are the ones to read. Runs are resumed by the same command.
    """
    only = () if students is None else tuple(name.strip() for name in students.split(",") if name.strip())
    loaded = load_steps_plan(plan, only=only)
    others = [load_steps_plan(each, only=only) for each in transfer]
    directory = (out or Path("runs") / f"{loaded.plan.name}-steps").absolute()
    wanted = set(verifiers_of(loaded))
    for name, each in zip(transfer, others, strict=True):
        if lacking := sorted(wanted - set(verifiers_of(each))):
            raise InputError(f"--transfer {name}: has no verifier {lacking[0]!r}, which {plan} has; call them alike")
    names = [each.plan.name for each in (loaded, *others)]
    if len(set(names)) != len(names):
        raise InputError(f"every plan needs a name of its own, got {', '.join(names)}; change one")
    console = Console(width=None if sys.stdout.isatty() else 160, stderr=as_json)
    found: list[Evaluated] = []
    for each in (loaded, *others):
        view = JudgingView(console)
        try:
            found.append(
                evaluate_plan(
                    each,
                    directory / each.plan.name,
                    follower=view,
                    introduce=lambda run, calls: _introduce(console, run, calls),
                )
            )
        finally:
            view.close()
    report = steps_report(_verifiers(found), title=loaded.plan.name)
    paths = write_report(report, directory)
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    for sheet in report_sheets(report, brief=True):
        console.print()
        show_sheet(console, sheet)
    console.print()
    for words in report["words"]:
        say(console, words)
    say(console, f"calls: {sum(each.paid for each in found)} paid, {sum(each.found for each in found)} cached")
    say(console, f"all of it: {paths.markdown}   {paths.json}")


def _verifiers(found: Sequence[Evaluated]) -> list[VerifierScores]:
    """Every verifier of the first plan, with what the verifier of its name scored elsewhere."""
    first, *others = found
    return [
        VerifierScores(
            name,
            scored,
            tuple(other.scored[name] for other in others),
            simulated=any(name in each.simulated for each in found),
        )
        for name, scored in first.scored.items()
    ]


def _introduce(console: Console, run: JudgingRun, calls: int) -> None:
    plan, part = run.plan, run.part
    say(console, f"holdgate steps eval {plan.name}  plan {plan.hash[:12]}…  {run.directory}")
    say(console, f"{len(part.rows)} notes of {len(part.groups)} groups, {plan.replicates} replicate(s): {calls} calls")
    if plan.simulated:
        say(console, "SIMULATED: a verifier answers from a formula; nothing of it says anything about a model.")


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"--fractions must be three numbers, such as 0.6,0.2,0.2, got {text!r}") from error

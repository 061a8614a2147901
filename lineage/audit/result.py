"""What came of a campaign: the choice of the winner, the verdict, the prompt file, and how far the campaign came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lineage.audit.record import Finding, RunRecord
from lineage.canonical import digest, digest_bytes, pretty_json
from lineage.openings import exploratory_reason, is_look


def check_choice(run: RunRecord) -> Iterator[Finding]:
    """The winner is the first of the ranking, counted with everything proposed, and was confirmed if it was to be."""
    choice = run.first("choice")
    if choice is None:
        return
    counts = Counter(event.body["outcome"] for event in run.all("outcome"))
    for outcome in ("accepted", "rejected", "invalid"):
        if choice.body[outcome] != counts[outcome]:
            words = f"counts {choice.body[outcome]} {outcome} candidates, the ledger holds {counts[outcome]}"
            yield Finding("error", f"seq {choice.seq}", words)
    if choice.body["winner"] != choice.body["ranking"][0]["candidate"]:
        yield Finding("error", f"seq {choice.seq}", "the winner is not the first of the ranking")
    seed = next((event.body["candidate"] for event in run.all("candidate") if event.body["kind"] == "seed"), None)
    confirm = [event for event in run.all("seal_opened") if event.body["opening"] == "confirm"]
    if choice.body["winner"] == seed and confirm:
        yield Finding(
            "error", f"seq {confirm[0].seq}", "the winner is the baseline, and confirm was opened all the same"
        )
    verdict = run.first("verdict")
    unconfirmed = verdict is not None and verdict.body["verdict"]["decision"] == "not-confirmed"
    if unconfirmed and verdict is not None:
        place = f"seq {verdict.seq}"
        if confirm:
            yield Finding("error", place, "the verdict says not-confirmed, and confirm was opened all the same")
        if run.plan is not None and run.plan.body["plan"]["gate"].get("confirm_on_accept") is None:
            yield Finding("error", place, "the verdict says not-confirmed, and the plan asks nothing of accept")
    elif choice.body["winner"] != seed and not confirm and verdict is not None:
        yield Finding("error", f"seq {choice.seq}", "there is a verdict on a winner that was not confirmed")


def check_verdict(run: RunRecord) -> Iterator[Finding]:
    """The verdict is the recorded one, on the chosen winner of this plan, and its file says the same."""
    event, finished, text = run.first("verdict"), run.first("finished"), run.text("verdict.json")
    if finished is None:
        if text is not None:
            yield Finding("error", "verdict.json", "there is a verdict file, but the ledger has no finished campaign")
    elif event is not None:
        head = {"count": finished.seq + 1, "hash": finished.hash}
        if text is None and run.events[-1] is finished:
            words = "is missing beside a finished ledger"
            yield Finding("warning", "verdict.json", words, "resume the campaign, which writes it")
        elif text != pretty_json({**event.body["verdict"], "ledger_head": head}):
            words = "is not the verdict and head that the ledger recorded (edited or missing)"
            yield Finding("error", "verdict.json", words)
        if finished.body["decision"] != event.body["verdict"]["decision"]:
            yield Finding("error", f"seq {finished.seq}", "the last decision is not the verdict's")
    if event is None:
        return
    verdict, place = event.body["verdict"], f"seq {event.seq}"
    if digest(verdict) != event.body["verdict_hash"]:
        yield Finding("error", place, "the verdict's hash is not the hash of the verdict")
    choice, plan = run.first("choice"), run.plan
    if choice is not None and verdict["winner"] != choice.body["winner"]:
        yield Finding("error", place, "the verdict is on another candidate than the chosen winner")
    if plan is not None:
        hashes = {"plan": plan.body["plan_hash"], "lock": plan.body["lock_hash"], "corpus": plan.body["corpus_hash"]}
        if any(verdict["hashes"][name] != value for name, value in hashes.items()):
            yield Finding("error", place, "the verdict's plan, lock or corpus hash is not the campaign's")
        marks = (exploratory_reason(run.steps), plan.body["simulated"])
        if (verdict["exploratory"], verdict["simulated"]) != marks:
            yield Finding("error", place, "the verdict's exploratory or simulated mark is not the campaign's")
    others = ("calibrate", "equal-budget")
    students = {e.body["student"] for e in run.all("evaluation") if e.body["purpose"] not in others}
    if students != {verdict["hashes"]["student"]}:
        yield Finding("error", place, "the candidates were not all judged by the verdict's student")
    opened = next((e.body["comparison"] for e in run.all("seal_opened") if e.body["opening"] == "confirm"), None)
    if verdict["comparison"] != opened:
        yield Finding("error", place, "the verdict's place among the comparisons is not that of its opening")


def check_prompt(run: RunRecord) -> Iterator[Finding]:
    """A prompt file exists exactly where the verdict passed."""
    event, text = run.first("verdict"), run.text("prompt.md")
    recorded = None if event is None else event.body["prompt"]
    emitted = event is not None and event.body["verdict"]["decision"] == "emit"
    if event is not None and (recorded is not None) != emitted:
        yield Finding(
            "error", f"seq {event.seq}", "a prompt is recorded although the verdict did not pass, or the reverse"
        )
    if emitted and event is not None and not event.body["verdict"]["confirmatory"]:
        yield Finding("error", f"seq {event.seq}", "an exploratory campaign emitted a prompt")
    if text is not None and not emitted:
        remedy = "remove it: it was not written by this campaign's verdict"
        yield Finding("error", "prompt.md", "there is a prompt file, but no passing verdict", remedy)
    elif emitted and text is None and not run.finished:
        yield Finding("warning", "prompt.md", "is not written yet", "resume the campaign, which writes it")
    elif emitted and (text is None or digest_bytes(text.encode("utf-8")) != recorded):
        yield Finding("error", "prompt.md", "is not the prompt that the ledger recorded (edited or missing)")


def check_state(run: RunRecord) -> Iterator[Finding]:
    """What a reader must know before the numbers; none of it is an error."""
    if not run.finished:
        last = run.events[-1].type if run.events else "nothing"
        words = f"the campaign is not finished: {len(run.events)} events, the last of them {last}"
        yield Finding("warning", "ledger.jsonl", words, "resume it with the same plan and run directory")
    if run.plan is not None and run.plan.body["exploratory"] is not None:
        words = f"exploratory ({run.plan.body['exploratory']}): its numbers confirm nothing"
        yield Finding("info", "seq 0", words, "confirm with a campaign that is not")
    for event in filter(is_look, run.steps):
        words = f"an exploratory opening for {event.body['purpose']} ({event.body['exploratory']}): no number after it"
        yield Finding("info", f"seq {event.seq}", f"{words} confirms anything", "confirm on a split that nobody saw")
    if run.plan is not None and run.plan.body["simulated"]:
        yield Finding("info", "seq 0", "the judge is a simulation: nothing here is about a model", "nothing to do")
    resumed = sum(event.type == "resumed" for event in run.events)
    if resumed:
        yield Finding("info", "ledger.jsonl", f"the campaign was resumed {resumed} time(s)", "nothing to do")

"""Studies of two workers on a real PostgreSQL: each has a directory and a call cache of its own, as on two machines."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

from experiments.sweep.loading import load_study
from optimize.sweep import StudyResult, StudyStorage, fingerprint, read_result
from optimize.sweep.storage import ANSWERS

pytestmark = pytest.mark.integration

Start = Callable[[Path, Path], subprocess.Popen[str]]

CONCURRENCY = 3
TRIALS = 6
PRICE = {"prompt_usd_per_million": 1.0, "completion_usd_per_million": 1.0}
RUN = "from experiments.cli import main; main()"


def binaries() -> Path | None:
    """Folder of the server's programs: Debian's newest, which is not on the path, or else the one on the path."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version, reverse=True)
    return next((path.parent for path in [*debian, *([] if found is None else [Path(found)])]), None)


def _version(path: Path) -> float:
    name = path.parents[1].name
    return float(name) if name.replace(".", "", 1).isdigit() else 0.0


def missing(what: str) -> NoReturn:
    """Skip what needs a server; where the environment variable CI is set, fail."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """A cluster of its own on loopback, started here and ended here; its server does not run as root."""
    if find_spec("psycopg") is None:
        missing("the driver of PostgreSQL is not installed (extra postgresql)")
    if (programs := binaries()) is None:
        missing("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    owner: dict[str, Any] = {}
    place = Path(tempfile.mkdtemp(prefix="holdgate-postgresql-"))
    if os.geteuid() == 0:  # the server refuses to run as root, so it runs as whoever Debian's package made for it
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            user = pwd.getpwnam("nobody")
        os.chown(place, user.pw_uid, user.pw_gid)
        owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = place / "data"
    settings = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={place}", "-c", "fsync=off"]
    options = ["-U", "study", "--auth=trust", "-E", "UTF8", "--no-sync"]
    # The server writes into a file: once a pipe that nobody reads is full, whoever writes into it stops for good.
    with (place / "server.log").open("wb") as log:
        quiet: dict[str, Any] = {"cwd": place, "stdout": log, "stderr": log, **owner}
        subprocess.run([programs / "initdb", "-D", data, *options], check=True, **quiet)
        server = subprocess.Popen([programs / "postgres", "-D", data, "-p", str(port), *settings], **quiet)
    try:
        ready = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
        deadline = time.monotonic() + 30
        while subprocess.run(ready, check=False).returncode:
            assert server.poll() is None, (place / "server.log").read_text()
            assert time.monotonic() < deadline, "the server does not come up"
            time.sleep(0.05)
        yield f"postgresql://study@127.0.0.1:{port}/postgres"
        said = (place / "server.log").read_text()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=30)
        shutil.rmtree(place)
    assert "holdgate_claims" not in said, "to wait for a call is no error of the server"


@pytest.fixture
def study(make_plan: Callable[..., Path], judge_endpoint: Any, tmp_path: Path) -> Callable[..., Path]:
    """Writes a study on a real endpoint that answers slowly enough for two workers to meet at the same calls."""

    def make(name: str, **changes: Any) -> Path:
        model = {"endpoint": judge_endpoint.url, "name": "judge", "concurrency": CONCURRENCY, "price": PRICE}
        base = make_plan(
            name,
            student={"shape": "per-fact", "model": model, "max_facts": 2},
            search={"iterations": 4, "minibatch_groups": 1, "seed": 1},
        )
        plan = {
            "name": name,
            "base": str(base),
            "space": {"student.aggregator": ["soft", "margin", "minimum"], "student.max_facts": [3, 5]},
            "sampler": {"kind": "grid", "seed": 3},
            "pruning": {"groups": [2], "reduction": 3},
        }
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**plan, **changes}), encoding="utf-8")
        return path

    return make


@pytest.fixture
def start(postgresql: str) -> Iterator[Callable[[Path, Path], subprocess.Popen[str]]]:
    """Starts a worker, whose directory is on a machine of its own as far as it can tell; none outlives its test."""
    started: list[subprocess.Popen[str]] = []

    def begin(study: Path, out: Path) -> subprocess.Popen[str]:
        out.parent.mkdir(parents=True, exist_ok=True)
        arguments = ["sweep", str(study), "--out", str(out), "--storage", postgresql, "--grace", "6"]
        command = [sys.executable, "-P", "-c", RUN, *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield begin
    for worker in started:
        if worker.poll() is None:
            worker.kill()
        worker.communicate()


def result_of(study: Path, out: Path, address: str) -> StudyResult:
    loaded = load_study(str(study))
    storage = StudyStorage(address, loaded.plan.name)
    try:
        known = fingerprint(loaded.inputs, loaded.corpus, loaded.lock)
        return read_result(loaded.inputs, storage, directory=out, fingerprint=known, simulated=False)
    finally:
        storage.close()


def cost(study: Path, endpoint: Any) -> float:
    """US dollars of everything that the endpoint answered, by what it says of its usage."""
    prompts = sum(len(json.loads(body)["messages"][-1]["content"]) // 4 * n for body, n in endpoint.answered.items())
    return (prompts + endpoint.answered.total()) / 1e6


def test_a_study_of_two_workers_finishes_where_one_is_killed_in_a_trial_and_pays_for_nothing_twice(
    study: Callable[..., Path], start: Start, postgresql: str, judge_endpoint: Any, tmp_path: Path
) -> None:
    plan = study("killed", limits={"usd": 1.0})
    outs = [tmp_path / machine / "killed" for machine in ("one", "two")]
    struck = threading.Event()
    workers: list[subprocess.Popen[str]] = []

    def slow(number: int) -> None:
        time.sleep(0.003)
        if number == 150 and not struck.is_set():
            struck.set()
            workers[0].send_signal(signal.SIGKILL)

    judge_endpoint.before = slow
    workers += [start(plan, out) for out in outs]
    said = [worker.communicate(timeout=300)[0] for worker in workers]
    assert workers[0].returncode == -signal.SIGKILL
    assert struck.is_set()
    assert "trial" in said[0], "it was at a trial when it was killed"
    assert workers[1].returncode == 0, said[1]
    result = result_of(plan, outs[1], postgresql)
    assert [trial.number for trial in result.trials] == list(range(1, TRIALS + 1))
    assert result.finished
    assert "taken up again, 2. time" in said[1], "the dead worker's trial is taken up by the other"
    assert len(result.of("complete")) + len(result.of("pruned")) == TRIALS

    asked = Counter(judge_endpoint.prompts)
    answered = judge_endpoint.answered
    repeated = answered.total() - len(answered)
    assert repeated <= CONCURRENCY, "only what was under way at the kill is asked again"
    assert asked.total() > 200, "there was something to be paid for"
    storage = StudyStorage(postgresql, "killed")
    with storage.begin() as connection:
        stored = connection.execute(ANSWERS.select().where(ANSWERS.c.study == "killed")).all()
    storage.close()
    assert len(stored) == len(answered), "every answer is where both machines find it"
    spend = result.spend
    assert spend.paid.calls + spend.unanswered.calls >= answered.total()
    assert spend.unanswered.calls <= CONCURRENCY
    assert (spend.paid.cost_usd or 0) <= cost(plan, judge_endpoint) + 1e-9


def test_a_limit_in_dollars_holds_for_two_workers_together_and_the_study_goes_on_when_it_is_raised(
    study: Callable[..., Path], start: Start, postgresql: str, judge_endpoint: Any, tmp_path: Path
) -> None:
    limit = 0.03
    plan = study("limited", limits={"usd": limit})
    outs = [tmp_path / machine / "limited" for machine in ("one", "two")]
    judge_endpoint.before = lambda number: time.sleep(0.002)
    workers = [start(plan, out) for out in outs]
    said = [worker.communicate(timeout=300)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [3, 3], said
    assert all("limits.usd = 0.03 of the study would be passed" in words for words in said)
    first = cost(plan, judge_endpoint)
    assert 0.8 * limit < first <= limit
    stopped = result_of(plan, outs[0], postgresql)
    assert stopped.spend.paid.cost_usd == pytest.approx(first)
    assert stopped.spend.unanswered.calls == 0
    assert not stopped.finished

    plan.write_text(plan.read_text().replace("usd: 0.03", "usd: 1.0"), encoding="utf-8")
    again = start(plan, outs[1])
    words = again.communicate(timeout=300)[0]
    assert again.returncode == 0, words
    result = result_of(plan, outs[1], postgresql)
    assert result.finished
    assert judge_endpoint.answered.most_common(1)[0][1] == 1, "no call is asked twice by anyone"
    assert result.spend.paid.cost_usd == pytest.approx(cost(plan, judge_endpoint))

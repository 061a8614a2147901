"""Fixtures of several packages: a small plan on the bundled corpus, its lock, and a judge behind a real endpoint."""

from __future__ import annotations

import gc
import hashlib
import json
import math
import os
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from optimize import Campaign, CampaignResult, parse_plan
from optimize.judging import JudgingPlan, JudgingRun, parse_judging_plan
from splits import Corpus, Selection, SplitLock, commit_lock, load_bundled, load_lock, plan_lock
from students import load_instruction
from students.overlap import word_overlap

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = {"reflect": 5, "accept": 4, "heldout": 6}


@pytest.fixture(scope="session", autouse=True)
def _nothing_to_wait_for() -> Iterator[None]:
    """No test outlives a power failure, and statsmodels collects all garbage of the process at every Holm correction.

    Both take longer than most tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(gc, "collect", lambda generation=2: 0)
        yield


@pytest.fixture(scope="session")
def consults() -> Corpus:
    """The bundled corpus."""
    return load_bundled("consults")


@pytest.fixture
def holdgate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process; returns exit status, output and error output."""
    from experiments.cli import main  # few tests want the command line, and it takes its time to import

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["holdgate", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture(scope="session")
def small_lock(tmp_path_factory: pytest.TempPathFactory, consults: Corpus) -> Path:
    """A committed lock of fifteen groups with two flawed notes each; what opens its held-out split works on a copy."""
    path = tmp_path_factory.mktemp("small") / "split.lock.json"
    selection = Selection(groups=sum(SIZES.values()), flawed_per_group=2, seed=3)
    commit_lock(plan_lock(consults, sizes=SIZES, seed=3, selection=selection), path)
    return path


def write_plan(place: Path, lock: Path, changes: Mapping[str, Any]) -> Path:
    """A plan file with a copy of a lock; ``changes`` replace parts of the plan."""
    place.mkdir()
    shutil.copyfile(lock, place / "split.lock.json")
    plan: dict[str, Any] = {
        "name": "small",
        "corpus": {"bundled": "consults"},
        "splits": {"lock": "split.lock.json"},
        "student": {"shape": "per-fact", "model": {"simulated": {"noise": 2.0}}, "max_facts": 5},
        "baseline": "stated-in-note",
        "search": {"iterations": 6, "minibatch_groups": 2, "seed": 1},
        **changes,
    }
    path = place / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return path


@pytest.fixture
def make_plan(tmp_path: Path, small_lock: Path) -> Callable[..., Path]:
    """Write a plan file with a copy of a small lock; keyword arguments replace parts of the plan."""

    def make(directory: str = "plan", **changes: Any) -> Path:
        return write_plan(tmp_path / directory, small_lock, changes)

    return make


@pytest.fixture(scope="session")
def finished_small(tmp_path_factory: pytest.TempPathFactory, consults: Corpus, small_lock: Path) -> CampaignResult:
    """The finished campaign of an unchanged plan of ``make_plan``; tests that write into its directory copy it."""
    place = tmp_path_factory.mktemp("finished-small")
    data = yaml.safe_load(write_plan(place / "plan", small_lock, {}).read_text(encoding="utf-8"))
    lock = load_lock(place / "plan" / "split.lock.json", consults)
    baseline = load_instruction("stated-in-note")
    return Campaign(parse_plan(data, where="test"), consults, lock, place / "runs" / "one", baseline=baseline).run()


@pytest.fixture(scope="session")
def tiny_plan() -> Callable[..., dict[str, Any]]:
    """The plan of ``finished_run``; keyword arguments replace parts of it."""

    def plan_of(**changes: Any) -> dict[str, Any]:
        return {
            "name": "tiny",
            "corpus": {"bundled": "consults"},
            "splits": {"lock": "lock.json"},
            "student": {
                "shape": "per-fact",
                "model": {"simulated": {"noise": 2.0}},
                "budget": {"answer_tokens": 1},
                "max_facts": 5,
            },
            "baseline": "stated-in-note",
            "search": {"iterations": 6, "minibatch_groups": 2, "seed": 4},
            "gate": {"rule": "point"},
            "guardrails": {"false_alarm_margin": None, "commission_margin": None, "prompt_words": None},
            **changes,
        }

    return plan_of


@pytest.fixture(scope="session")
def finished_run(
    tmp_path_factory: pytest.TempPathFactory, consults: Corpus, tiny_plan: Callable[..., dict[str, Any]]
) -> Path:
    """The run directory of a small simulated campaign that passed its gate, so that it has a prompt file.

    Tests that write into it work on a copy. Its split lock, of two comparisons, is in ``lock.json`` beside it.
    """
    place = tmp_path_factory.mktemp("finished")
    sizes = {"reflect": 6, "accept": 5, "heldout": 7}
    selection = Selection(groups=18, flawed_per_group=3, seed=1)
    commit_lock(plan_lock(consults, sizes=sizes, seed=1, selection=selection, comparisons=2), place / "lock.json")
    lock = load_lock(place / "lock.json", consults)
    baseline = load_instruction("stated-in-note")
    plan = parse_plan(tiny_plan(), where="test")
    result = Campaign(plan, consults, lock, place / "run", baseline=baseline).run()
    assert result.verdict["decision"] == "emit"
    return place / "run"


@pytest.fixture(scope="session")
def finished_lock(consults: Corpus, finished_run: Path) -> SplitLock:
    """The split lock of ``finished_run``."""
    return load_lock(finished_run.parent / "lock.json", consults)


JUDGES: dict[str, Any] = {
    "name": "judges",
    "corpus": {"bundled": "consults"},
    "selection": {"groups": 6, "flawed_per_group": 3, "seed": 1},
    "model": {"simulated": {"noise": 2.0}},
    "students": [
        {"name": "whole", "shape": "whole-note"},
        {"name": "facts", "shape": "per-fact", "budget": {"answer_tokens": 1}, "max_facts": 3},
    ],
    "seed": 1,
}
"""A judging plan of two simulated judges on six groups."""


@pytest.fixture
def judging() -> Callable[..., JudgingPlan]:
    """A judging plan of two simulated judges on six groups; keyword arguments replace parts of it."""

    def make(**changes: Any) -> JudgingPlan:
        return parse_judging_plan(JUDGES | changes, where="test")

    return make


@pytest.fixture(scope="session")
def finished_judging(tmp_path_factory: pytest.TempPathFactory, consults: Corpus) -> Path:
    """The directory of a finished judging run of three replicates; tests that write into it work on a copy."""
    directory = tmp_path_factory.mktemp("judging") / "run"
    plan = parse_judging_plan(JUDGES | {"replicates": 3}, where="test")
    JudgingRun(plan, consults, directory, texts={}).run()
    return directory


class JudgeEndpoint:
    """A real HTTP endpoint that judges by word overlap, counts what it answers, and can be told to misbehave.

    A request for the model ``writer`` gets the next of ``written``. ``before`` is called with each request's number
    (from 1) before it is answered; what it returns other than None is sent as ``(status, body)`` instead of an answer.
    """

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.prompts: list[str] = []
        self.written: list[str] = []
        self.listed = json.dumps({"data": [{"id": "judge"}]})
        self.before: Callable[[int], tuple[int, str] | None] = lambda number: None
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send(200, outer.listed)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.prompts.append(json.dumps(body["messages"], ensure_ascii=False))
                    number = len(outer.prompts)
                refused = outer.before(number)
                if refused is not None:
                    self._send(*refused)
                    return
                answer = written_answer(outer.written.pop(0)) if body["model"] == "writer" else answer_of(body)
                self._send(200, json.dumps(answer))
                with outer._lock:
                    outer.answered[json.dumps(body, sort_keys=True)] += 1

            def _send(self, status: int, text: str) -> None:
                data = text.encode("utf-8")
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address up to and with the version."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def written_answer(text: str) -> dict[str, Any]:
    """A chat completion with this text."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 500, "completion_tokens": 50}
    return {"model": "writer-1", "choices": [{"finish_reason": "stop", "message": message}], "usage": usage}


def answer_of(body: dict[str, Any]) -> dict[str, Any]:
    """A chat completion: the margin follows the fact's words in the note, with noise until there are two clauses."""
    user = body["messages"][-1]["content"]
    found = re.fullmatch(r"NOTE:\n(.*)\n\nFACT: (.*)", user, re.DOTALL)
    assert found is not None
    clauses = body["messages"][0]["content"].count(".") - 2
    draw = int.from_bytes(hashlib.sha256(user.encode()).digest()[:4], "big") / 2**32 - 0.5
    margin = 4 * (word_overlap(found[2], found[1]) - 0.6) + (12 * draw if clauses < 2 else 0)
    yes = -math.log1p(math.exp(-margin))
    top = [{"token": "Yes", "logprob": yes}, {"token": "No", "logprob": yes - margin}]
    return {
        "model": "judge-1",
        "choices": [
            {
                "finish_reason": "length",
                "message": {"role": "assistant", "content": "Yes" if margin > 0 else "No"},
                "logprobs": {"content": [{**top[0], "top_logprobs": top}]},
            }
        ],
        "usage": {"prompt_tokens": len(user) // 4, "completion_tokens": 1},
    }


@pytest.fixture
def judge_endpoint() -> Iterator[JudgeEndpoint]:
    """A fresh endpoint on loopback."""
    endpoint = JudgeEndpoint()
    yield endpoint
    endpoint.close()


@dataclass(frozen=True, slots=True)
class OpenedPage:
    """A file opened in a real Chromium that has no network.

    Attributes:
        page: the page, for whatever a test asks of it.
        said: what its console and its errors said; a good page says nothing.
        asked: addresses that it asked for beside its own file; a self-contained page asks for none.
    """

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def sideways(self) -> int:
        """By how many pixels the page is wider than its window."""
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(wide))

    def names(self) -> list[str]:
        """Texts of its headings, in order."""
        return [heading.inner_text() for heading in self.page.locator("h1, h2, h3, h4").all()]


CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
NO_CHROMIUM = "there is no chromium here; install the package chromium"


@pytest.fixture
def open_page() -> Iterator[Callable[..., OpenedPage]]:
    """Open a file in a headless Chromium without network: ``open_page(path, width=390)`` gives an ``OpenedPage``.

    Keyword arguments are ``width`` and ``height`` of the window in pixels, ``media`` (``"screen"`` or ``"print"``),
    ``dark`` and ``script`` (whether the page's own scripts run). Call it as often as a test needs; the browser starts
    with the first call and ends with the test, and an event loop runs in this thread in between, so that whatever runs
    a loop of its own (a campaign) is done before. Its tests are marked ``integration``. Where there is no Chromium they
    are skipped; where the environment variable CI is set they fail.
    """
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    with ExitStack() as ends:
        started: list[Browser] = []

        def browser() -> Browser:
            if not started:
                from playwright.sync_api import sync_playwright  # only these tests need it

                playwright = ends.enter_context(sync_playwright())
                # Chromium's sandbox refuses to run as root.
                found = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=os.geteuid() != 0)
                ends.callback(found.close)
                started.append(found)
            return started[0]

        def open_file(
            path: Path,
            *,
            width: int = 1280,
            height: int = 800,
            media: str = "screen",
            dark: bool = False,
            script: bool = True,
        ) -> OpenedPage:
            context = browser().new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                java_script_enabled=script,
                offline=True,
            )
            opened = OpenedPage(context.new_page())
            address = path.absolute().as_uri()
            opened.page.on("console", lambda message: opened.said.append(message.text))
            opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
            opened.page.on(
                "request", lambda request: opened.asked.append(request.url) if request.url != address else None
            )
            opened.page.emulate_media(media="print" if media == "print" else "screen")
            opened.page.goto(address)
            return opened

        yield open_file

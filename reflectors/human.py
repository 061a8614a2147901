"""A person as the reflector: each request is a file to read, and its answer another that is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, ClassVar, Final

from lineage.canonical import digest, digest_bytes, write_atomic
from lineage.errors import CampaignError
from reflectors.asking import Asking, prompt_sections
from reflectors.clauses import PROMPTS
from reflectors.feedback import Feedback
from reflectors.marking import END, read_marked
from reflectors.reflector import Reflection, ReflectionRequest, Reflector
from students.shape import INSTRUCTION

HEAD: Final = PROMPTS / "human.md"
POLL_S: Final = 2.0
"""Seconds between two looks for an answer."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How answers are waited for.

    Attributes:
        wait: whether to wait at all; otherwise a missing answer stops the campaign, which can be resumed.
        poll_s: seconds between two looks.
        tell: is told of each file that is waited for.
        pause: lets so many seconds pass.
    """

    wait: bool = True
    poll_s: float = POLL_S
    tell: Callable[[Path], None] = lambda _: None
    pause: Callable[[float], None] = time.sleep


class HumanReflector(Reflector):
    """Writes each request as Markdown into a folder, and reads its answer from a file beside it.

    The request holds the present instruction, the feedback on it and the name of the answer file. The answer holds the
    new instruction between the markers; without the closing one it is not finished. A campaign that was ended while it
    waited finds the answer when it is resumed, or waits on.

    Args:
        directory: the folder, in the run directory.
        feedback: which parts of the feedback are told, and the bound.
        memory: how many failed edits are told.
        waiting: how answers are waited for; no part of the settings.
    """

    name: ClassVar[str] = "human"

    def __init__(
        self, directory: Path, *, feedback: Feedback | None = None, memory: int = 0, waiting: Waiting | None = None
    ) -> None:
        self.directory = directory
        self._asking = Asking(feedback or Feedback(), memory)
        self._waiting = waiting or Waiting()

    def settings(self) -> dict[str, Any]:
        """Feedback, memory and hashes of the prompt files."""
        return {"reflector": self.name, **self._asking.settings(), "head": digest_bytes(HEAD.read_bytes())}

    def reflect(self, request: ReflectionRequest) -> Reflection:
        """Write the request where it is not yet there, and read its answer.

        Raises:
            CampaignError: there is no finished answer and none is waited for, or the folder holds another request of
                that name.
        """
        return self.reflect_all([request])[0]

    def reflect_all(self, requests: Sequence[ReflectionRequest]) -> tuple[Reflection, ...]:
        """Write all requests first, so that they can be answered in any order; then read their answers."""
        words = [self._write(request) for request in requests]
        missing = [self._answer_file(request) for request in requests if self._finished(request) is None]
        if missing and not self._waiting.wait:
            raise CampaignError(
                f"{', '.join(map(str, missing))}: no finished answer yet; read the request beside it, write the answer "
                f"with its closing {END}, and give the same command to go on"
            )
        return tuple(self._read(request, asked) for request, asked in zip(requests, words, strict=True))

    def _read(self, request: ReflectionRequest, asked: str) -> Reflection:
        if (text := self._finished(request)) is None:
            self._waiting.tell(self._answer_file(request))
            while (text := self._finished(request)) is None:
                self._waiting.pause(self._waiting.poll_s)
        marked = read_marked(text)
        operator = "human crossover" if request.others else "human"
        return Reflection(marked.instruction, operator, "written by a person", asked, text, marked.problem)

    def _finished(self, request: ReflectionRequest) -> str | None:
        """The answer, once its closing marker is there."""
        path = self._answer_file(request)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise CampaignError(f"{path}: the answer is not UTF-8 ({error.reason}); save it as UTF-8") from error
        return text if END in text else None

    def _write(self, request: ReflectionRequest) -> str:
        """Write the request, or check that the one that is there is the same."""
        asked = self._asking.words(request)
        head = Template(prompt_sections(HEAD)["head"]).substitute(
            digest=digest([asked.system, asked.user]),
            iteration=str(request.iteration),
            call=str(request.call),
            answer=self._answer_file(request).name,
        )
        path = self.directory / f"{_name(request)}.request.md"
        if not path.exists():
            write_atomic(path, f"{head}\n\n---\n\n{asked.system}\n\n---\n\n{asked.user}\n")
        elif (found := path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()) != head.partition(
            "\n"
        )[0]:
            raise CampaignError(
                f"{path}: holds another request ({found[:80]!r}) than the one that the campaign comes to; move the "
                "file and its answer away to be asked again"
            )
        return asked.user

    def _answer_file(self, request: ReflectionRequest) -> Path:
        return self.directory / f"{_name(request)}.answer.md"


def _name(request: ReflectionRequest) -> str:
    block = "" if request.component == INSTRUCTION else f"-{digest(request.component)[:8]}"
    return f"{request.iteration:04d}-{request.call}{block}"

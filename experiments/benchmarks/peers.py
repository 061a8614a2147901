"""Who is measured: this framework and its peers, each judging the same notes against one endpoint.

A contender prepares everything first (imports, clients, data) and returns the function that is timed.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lineage.ledger import Ledger
from lineage.records import Candidate
from optimize.evaluation import Evaluator
from splits.corpus import Corpus, Example
from students import Bench, WholeNoteScorer
from students.transport import CallCache, Calls, EndpointTransport, Limits, Spend

INSTRUCTION: Final = "Score how completely and faithfully the note states what was said in the consultation."
GROUP: Final = 4
"""Notes a source."""
_SENTENCE: Final = "The patient says in words number {} that the pain began last week and is worse at night. "

Timed = Callable[[], int]
"""Judges everything once and returns the number of scores."""


def notes(count: int) -> Corpus:
    """So many invented notes of about 150 words, four to a source of about 300."""
    made = []
    for number in range(count):
        group = number // GROUP
        source = "".join(_SENTENCE.format(group * 100 + line) for line in range(17))
        note = "".join(_SENTENCE.format(number * 10 + line) for line in range(8))
        made.append(Example(f"e{number:05}", f"g{group:05}", "s", source, note, "clean", "clean"))
    return Corpus(tuple(made), {})


def texts(count: int) -> list[str]:
    """The same notes as plain text, for those who take one input."""
    return [f"SOURCE:\n{example.source}\n\nNOTE:\n{example.document}" for example in notes(count).examples]


@contextmanager
def evaluating(url: str, directory: Path, *, concurrency: int) -> Iterator[Evaluator]:
    """Our whole path: transport, cache, spend, bench, judgement segments and ledger."""
    transport = EndpointTransport(url, model="stub")
    with CallCache(directory / "calls.sqlite") as cache, Ledger(directory / "run" / "ledger.jsonl") as ledger:
        calls = Calls(transport, cache=cache, spend=Spend(Limits(calls=10**9)), concurrency=concurrency)
        bench = Bench(calls, run_seed=0, campaign="benchmark")
        try:
            yield Evaluator(ledger, directory / "run" / "judgements", bench)
        finally:
            bench.close()


def judge(evaluator: Evaluator, corpus: Corpus, *, replicates: int = 1, first: int = 0) -> int:
    """One evaluation as in a campaign, in replicates from ``first`` on; the number of its scores."""
    (found,) = evaluator.evaluate(
        WholeNoteScorer(model={"name": "stub"}),
        [Candidate({"instruction": INSTRUCTION}, "seed")],
        corpus,
        purpose="benchmark",
        split="accept",
        replicates=range(first, first + replicates),
    )
    return len(found.judgements) - len(found.failed)


@contextmanager
def holdgate(url: str, calls: int, concurrency: int) -> Iterator[Timed]:
    """This framework with cache, limits, judgement segments and ledger on."""
    corpus = notes(calls)
    with (
        tempfile.TemporaryDirectory() as place,
        evaluating(url, Path(place), concurrency=concurrency) as evaluator,
    ):
        yield lambda: judge(evaluator, corpus)


@contextmanager
def dspy_evaluate(url: str, calls: int, concurrency: int) -> Iterator[Timed]:
    """``dspy.Evaluate`` of one ``Predict``, its cache off."""
    import dspy

    dspy.configure(lm=dspy.LM("openai/stub", api_base=url, api_key="none", cache=False), disable_history=True)
    program = dspy.Predict(dspy.Signature("text -> score: float", INSTRUCTION))
    devset = [dspy.Example(text=text).with_inputs("text") for text in texts(calls)]

    def metric(example: Any, prediction: Any, trace: Any = None) -> float:
        del example, trace
        return float(prediction.score) / 10

    evaluate = dspy.Evaluate(devset=devset, metric=metric, num_threads=concurrency, display_progress=False)
    yield lambda: sum(score is not None for _, _, score in evaluate(program).results)


@contextmanager
def gepa_adapter(url: str, calls: int, concurrency: int) -> Iterator[Timed]:
    """The ``DefaultAdapter`` of gepa, which calls through litellm in threads."""
    from gepa.adapters.default_adapter.default_adapter import DefaultAdapter, EvaluationResult

    def evaluator(data: Mapping[str, Any], response: str) -> Any:
        del data
        return EvaluationResult(score=float(response.split()[-1]) / 10, feedback="")

    more = {"api_base": url, "api_key": "none"}
    adapter = DefaultAdapter(
        "openai/stub", evaluator=evaluator, max_litellm_workers=concurrency, litellm_batch_completion_kwargs=more
    )
    batch: list[Any] = [{"input": text, "additional_context": {}, "answer": ""} for text in texts(calls)]
    yield lambda: sum(score > 0 for score in adapter.evaluate(batch, {"system": INSTRUCTION}).scores)


@contextmanager
def promptolution(url: str, calls: int, concurrency: int) -> Iterator[Timed]:
    """The ``RewardTask`` of promptolution through its ``APILLM``."""
    import pandas as pd
    from promptolution.llms.api_llm import APILLM
    from promptolution.predictors.maker_based_predictor import MarkerBasedPredictor
    from promptolution.tasks.reward_tasks import RewardTask
    from promptolution.utils.prompt import Prompt

    llm = APILLM(api_url=url, model_id="stub", api_key="none", max_concurrent_calls=concurrency)
    task = RewardTask(pd.DataFrame({"x": texts(calls)}), lambda answer: float(answer.split()[-1]) / 10)
    predictor = MarkerBasedPredictor(llm, begin_marker="Score:", end_marker="\n")
    yield lambda: int((task.evaluate(Prompt(INSTRUCTION), predictor).scores > 0).sum())


@contextmanager
def inspect(url: str, calls: int, concurrency: int) -> Iterator[Timed]:
    """The ``eval`` of inspect_ai of a generated answer, scored by ``includes``, with its log on."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, system_message

    config = GenerateConfig(max_connections=concurrency)
    model = get_model("openai/stub", base_url=url, api_key="none", config=config, responses_api=False)
    dataset = MemoryDataset([Sample(input=text, target="8") for text in texts(calls)])
    task = inspect_ai.Task(dataset=dataset, solver=[system_message(INSTRUCTION), generate()], scorer=includes())

    with tempfile.TemporaryDirectory() as place:

        def run() -> int:
            (log,) = inspect_ai.eval(task, model=model, max_samples=concurrency, log_dir=place, display="none")
            assert log.results is not None, log.error
            return int(log.results.completed_samples)

        yield run


CONTENDERS: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "holdgate": ("lineage", holdgate),
    "dspy.Evaluate": ("dspy", dspy_evaluate),
    "gepa DefaultAdapter": ("gepa", gepa_adapter),
    "promptolution": ("promptolution", promptolution),
    "inspect_ai": ("inspect_ai", inspect),
}
"""Name in the table, the module that it needs, and its contender."""


def quiet() -> None:
    """Keep the peers from fetching price lists and from writing between the lines of the result."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("DSPY_CACHEDIR", tempfile.gettempdir())
    logging.disable(logging.WARNING)

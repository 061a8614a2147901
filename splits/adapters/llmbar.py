"""LLMBar: instructions with two outputs, one of which follows the instruction better.

Unit and group: one instruction, word for word; instances that share it are one group. Source: the instruction, as
there is no other document to check against. The better output is a clean candidate: better than the other, which does
not make it free of flaws. The worse one is a commission of kind ``change`` (upstream names no kind) with the better
one as its twin. Stratum: the subset; of a group in two subsets that of its first instance.

The corpus is adversarial by construction: in most instances the longer output is the worse one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from splits.adapters.imported import Adapter, Imported, Notices
from splits.adapters.upstream import Record, find_file, grouped, read_records
from splits.corpus import Corpus
from splits.rows import Row, read_examples

INSTANCES: Final = "instances.jsonl"


def read(path: Path) -> Imported:
    """Read the folder with ``instances.jsonl``, or that file.

    Raises:
        CorpusError: the file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    instances = read_records(find_file(path, INSTANCES), "input", "output_1", "output_2", "label")
    rows = [row for _, group in grouped(instances, "input") for row in _instruction(group, notices)]
    return Imported(Corpus(read_examples(rows), {}), notices.all())


def _instruction(instances: list[Record], notices: Notices) -> Iterator[Row]:
    first = instances[0]
    group = _dashed(first.text("id"))
    for other in instances[1:]:
        notices.add("noted", "instance that shares its instruction with another, put in one group", other.text("id"))
        if other.text("subset") != first.text("subset"):
            notices.add("noted", "group in two subsets; its stratum is the first", other.text("id"))
    for instance in instances:
        name = _dashed(instance.text("id"))
        better = instance.one_of("label", (1, 2))
        outputs = {number: instance.text(f"output_{number}") for number in (1, 2)}
        if outputs[1].split() == outputs[2].split():
            raise instance.refuse("is the same as output_1; one of two must be better", field="output_2")
        notices.add("noted", "better outputs are clean candidates", instance.text("id"))
        shared = {"group": group, "stratum": first.text("subset"), "source": first.text("input")}
        meta = {"subset": instance.text("subset")}
        yield instance.row(
            id=f"{name}.better",
            document=outputs[better],
            label="clean",
            meta={**meta, "clean": "candidate", "output": better},
            **shared,
        )
        yield instance.row(
            id=f"{name}.worse",
            document=outputs[3 - better],
            label="commission",
            kind="change",
            twin=f"{name}.better",
            meta={**meta, "output": 3 - better},
            **shared,
        )


def _dashed(name: str) -> str:
    return name.replace("/", "-")


ADAPTER: Final = Adapter(
    name="llmbar",
    summary="419 instructions with a better and a worse output, mostly adversarial; by instruction",
    files={INSTANCES: "fc3a0a7af78c06ff335008e7ec776999cf00e0291e36b6412b8b958981a14c05"},
    licence="MIT",
    attribution=(
        "LLMBar by Zhiyuan Zeng et al., Evaluating Large Language Models at Evaluating Instruction Following, ICLR "
        "2024, https://github.com/princeton-nlp/LLMBar, MIT"
    ),
    read=read,
)

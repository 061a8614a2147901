"""SummEdits: documents with a seed summary and edits of it that are consistent with the document or not.

Unit and group: one document, which is the source; a document with two seeds is one group. Stratum: its domain. The
seed and the consistent edits are clean: upstream's annotators checked the seeds and labelled every edit, so they are
no mere candidates. An inconsistent edit is a commission, and its twin is the seed that it was made from. Its kind is
read off the two texts, as upstream's edit types are the word of a language model and sometimes missing: ``add`` if
every word of the seed stands in it in order, else ``change``. There are no omissions and no severity.

A text that occurs twice in a document with the same label is one example; with both labels it is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from splits.adapters.imported import Adapter, Imported, Notices
from splits.adapters.upstream import Record, by_id, find_file, flat, grouped, read_records
from splits.corpus import Corpus
from splits.rows import Row, read_examples

SUMMARIES: Final = "summaries.jsonl"
DOCUMENTS: Final = "documents.jsonl"


def read(path: Path) -> Imported:
    """Read the folder with ``documents.jsonl`` and ``summaries.jsonl``.

    Raises:
        CorpusError: a file is missing, cut off, or not what it should be; with its place.
    """
    notices = Notices()
    summaries = read_records(find_file(path, SUMMARIES), "doc_id", "seed_summary_id", "summary", "label")
    documents = by_id(read_records(find_file(path, DOCUMENTS, beside=True), "doc"))
    known = by_id(summaries)
    rows = []
    used = dict.fromkeys(documents, False)
    for document, group in grouped(summaries, "doc_id"):
        if document not in documents:
            raise group[0].refuse(f"{document!r} is not in {DOCUMENTS}", field="doc_id")
        used[document] = True
        rows += list(_document(documents[document], group, known, notices))
    for document, met in used.items():
        if not met:
            raise documents[document].refuse(f"{document!r} has no summary in {SUMMARIES}; fetch it again", field="id")
    return Imported(Corpus(read_examples(rows), {}), notices.all())


def _document(document: Record, summaries: list[Record], known: dict[str, Record], notices: Notices) -> Iterator[Row]:
    shared = {
        "group": flat(document.text("id")),
        "stratum": document.text("domain"),
        "source": document.text("doc").strip(),
    }
    labels: dict[str, set[int]] = {}
    for summary in summaries:
        labels.setdefault(_folded(summary), set()).add(summary.one_of("label", (0, 1)))
    seeds = Counter(summary.text("seed_summary_id") for summary in summaries)
    for seed_id, uses in seeds.items():
        notices.add("noted", "seed summary without edits", seed_id, int(uses == 1))
    if len(seeds) > 1:
        notices.add("noted", "document with several seed summaries, one group", document.text("id"))
    seen: set[str] = set()
    for summary in summaries:
        name, text, seed = summary.text("id"), _folded(summary), _seed(summary, known)
        if len(labels[text]) > 1:
            if seed is summary:
                raise summary.refuse("the same text is labelled inconsistent elsewhere; a seed must be clean")
            notices.add("left out", "text labelled consistent and inconsistent by turns", name)
        elif text in seen and seed is not summary:
            notices.add("left out", "text that occurs before in its document, with the same label", name)
        else:
            seen.add(text)
            yield _example(summary, seed, shared, notices)


def _seed(summary: Record, known: dict[str, Record]) -> Record:
    name = summary.text("seed_summary_id")
    if name not in known:
        raise summary.refuse(f"{name!r} is not in {SUMMARIES}; fetch it again", field="seed_summary_id")
    seed = known[name]
    if seed.one_of("label", (0, 1)) != 1 or seed.text("doc_id") != summary.text("doc_id"):
        raise summary.refuse(f"{name!r} is not a consistent summary of the same document", field="seed_summary_id")
    return seed


def _example(summary: Record, seed: Record, shared: dict[str, str], notices: Notices) -> Row:
    name, consistent = summary.text("id"), summary.get("label") == 1
    types = summary.texts("edit_types")
    if consistent and types:
        notices.add("noted", "consistent summary with edit types; the label holds", name)
    if not consistent and not types:
        notices.add("noted", "inconsistent summary without edit types", name)
    kind = "clean" if consistent else "add" if _only_adds(seed, summary) else "change"
    return summary.row(
        id=flat(name),
        document=summary.text("summary").strip(),
        label="clean" if consistent else "commission",
        kind=kind,
        twin=None if consistent else flat(seed.text("id")),
        meta={"split": summary.text("split"), "seed": seed is summary, "edit_types": types},
        **shared,
    )


def _only_adds(seed: Record, edit: Record) -> bool:
    words = iter(edit.text("summary").split())
    return all(word in words for word in seed.text("summary").split())


def _folded(summary: Record) -> str:
    return " ".join(summary.text("summary").split())


ADAPTER: Final = Adapter(
    name="summedits",
    summary="55 documents, 1,564 summaries edited from 56 seeds, consistent or not; by document",
    files={
        SUMMARIES: "dfed5735dce4f6331da315fb98122e31d72a73682b12224144be97805debbbb0",
        DOCUMENTS: "2c7ef8ac66c4de2e5c4f4f874bb658ce3005b46bec5e3b69133396e99628beab",
    },
    licence="Apache-2.0 (documents of qmsumm: AND MIT)",
    attribution=(
        "SummEdits by Philippe Laban et al. (Salesforce Research), EMNLP 2023, "
        "https://github.com/salesforce/factualNLG, Apache License 2.0; QMSum by Ming Zhong et al., NAACL 2021, MIT; "
        "documents stored once and referred to by id."
    ),
    read=read,
)

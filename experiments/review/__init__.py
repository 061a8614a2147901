"""Reviewing by people: a blinded pack of what judges said, a form to answer it, and the answers joined to its key."""

from experiments.review.answers import Answers, read_answers
from experiments.review.drawing import PackSizes, draw_items
from experiments.review.form import form
from experiments.review.key import Key, read_key
from experiments.review.pack import Pack, make_pack, write_pack
from experiments.review.scoring import score_review
from experiments.review.sources import ReviewedRun, read_reviewed

__all__ = [
    "Answers",
    "Key",
    "Pack",
    "PackSizes",
    "ReviewedRun",
    "draw_items",
    "form",
    "make_pack",
    "read_answers",
    "read_key",
    "read_reviewed",
    "score_review",
    "write_pack",
]

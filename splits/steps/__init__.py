"""Steps of a note: cutting, injected errors, labels, and the records that a step verifier is trained on."""

from splits.steps.building import BuildSettings, BuiltSteps, build_steps
from splits.steps.chat import ChatLines, chat_lines, step_rows
from splits.steps.comparing import StepDifference, flaw_by_difference, step_difference
from splits.steps.cutting import Step, SteppedNote, cut, reassembled
from splits.steps.dealing import PARTS, StepParts, fresh_parts, parts_of_lock
from splits.steps.files import write_steps
from splits.steps.flaws import ERRORS, RIGHT, WRONG, ErrorKind, Flaw, Label, first_wrong, labels_of
from splits.steps.granularity import KINDS, PRESETS, Granularity, StepKind
from splits.steps.injecting import Injection, inject
from splits.steps.known import flaw_of
from splits.steps.labelling import LabelledNote, label_notes
from splits.steps.paraphrasing import Paraphrase, paraphrase

__all__ = [
    "ERRORS",
    "KINDS",
    "PARTS",
    "PRESETS",
    "RIGHT",
    "WRONG",
    "BuildSettings",
    "BuiltSteps",
    "ChatLines",
    "ErrorKind",
    "Flaw",
    "Granularity",
    "Injection",
    "Label",
    "LabelledNote",
    "Paraphrase",
    "Step",
    "StepDifference",
    "StepKind",
    "StepParts",
    "SteppedNote",
    "build_steps",
    "chat_lines",
    "cut",
    "first_wrong",
    "flaw_by_difference",
    "flaw_of",
    "fresh_parts",
    "inject",
    "label_notes",
    "labels_of",
    "paraphrase",
    "parts_of_lock",
    "reassembled",
    "step_difference",
    "step_rows",
    "write_steps",
]

"""Students: the judges under test, their prompt shapes and budgets, and the calls they make."""

from students.budget import ReasoningBudget
from students.capabilities import Capabilities, known_capabilities
from students.judging import Bench, Progress
from students.keyed_facts import KeyedFactChecker
from students.per_fact import PerFactChecker
from students.shape import INSTRUCTION, PromptShape, load_instruction
from students.student import Student, student_hash
from students.whole_note import WholeNoteScorer

__all__ = [
    "INSTRUCTION",
    "Bench",
    "Capabilities",
    "KeyedFactChecker",
    "PerFactChecker",
    "Progress",
    "PromptShape",
    "ReasoningBudget",
    "Student",
    "WholeNoteScorer",
    "known_capabilities",
    "load_instruction",
    "student_hash",
]

"""dspy programs as students, and students as dspy programs; importing this imports dspy, which takes a second."""

from students.programs.export import JudgeProgram, exported_program
from students.programs.student import ProgramStudent, load_program

__all__ = ["JudgeProgram", "ProgramStudent", "exported_program", "load_program"]

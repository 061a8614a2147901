"""Budgeted search: studies on Optuna over the settings of a campaign, on reflect and accept alone.

A study chooses points of a space over a campaign plan; at each it runs the campaign's search, on examples without any
held-out group. Workers share one database, in which every call's worst case is reserved before it is sent, so that the
study's limits hold for all of them together.
"""

from optimize.sweep.following import Follower
from optimize.sweep.inputs import StudyInputs, cost_unit, fingerprint
from optimize.sweep.plan import StudyPlan, parse_study
from optimize.sweep.results import StudyResult, TrialResult, read_result
from optimize.sweep.searching import Resolved, searchable
from optimize.sweep.space import Space, point_words
from optimize.sweep.storage import StudyStorage
from optimize.sweep.study import Study, default_storage

__all__ = [
    "Follower",
    "Resolved",
    "Space",
    "Study",
    "StudyInputs",
    "StudyPlan",
    "StudyResult",
    "StudyStorage",
    "TrialResult",
    "cost_unit",
    "default_storage",
    "fingerprint",
    "parse_study",
    "point_words",
    "read_result",
    "searchable",
]

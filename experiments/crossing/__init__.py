"""Experiments made of several searches: crossed over reasoning budgets, ablations, accept sizes, optimisers."""

from experiments.crossing.loading import EXPERIMENTS, LoadedExperiment, load_experiment_plan
from experiments.crossing.sizing import ExperimentSize, experiment_size
from experiments.crossing.writing import write_experiment_report

__all__ = [
    "EXPERIMENTS",
    "ExperimentSize",
    "LoadedExperiment",
    "experiment_size",
    "load_experiment_plan",
    "write_experiment_report",
]

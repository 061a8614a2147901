"""The ``holdgate`` command."""

from experiments.cli.main import cli, main

__all__ = ["cli", "main"]

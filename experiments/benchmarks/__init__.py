"""Benchmarks: scripts that measure this framework beside its peers in one run, each with ``--help``."""

__all__: list[str] = []

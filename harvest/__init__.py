"""Harvest: drivers, the runner, limits, and the command line."""

__all__: list[str] = []

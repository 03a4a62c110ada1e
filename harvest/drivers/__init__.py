"""Drivers: how systems under audit are reached."""

__all__: list[str] = []

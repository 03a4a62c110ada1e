"""Drivers, which connect to systems under audit."""

__all__: list[str] = []

"""Protocols: what a user says, and how the next turn depends on the answer. Pure: no I/O while playing, no clock."""

__all__: list[str] = []

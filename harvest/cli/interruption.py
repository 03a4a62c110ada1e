"""How a command that asks systems is stopped from outside."""

from __future__ import annotations

from topics.errors import HarvestError

__all__ = ["Interrupted"]


class Interrupted(HarvestError):
    """Somebody stopped the command: it exits with 130. The text says what is safe."""

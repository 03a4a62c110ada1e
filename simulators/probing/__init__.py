"""The probe: a user that plants facts, distracts, asks again and disagrees, following a plan."""

__all__: list[str] = []

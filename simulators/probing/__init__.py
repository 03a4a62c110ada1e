"""The probe: a user that plants facts, distracts, asks again and disagrees, by a plan."""

__all__: list[str] = []

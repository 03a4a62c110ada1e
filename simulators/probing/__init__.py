"""The probe, which follows a plan: it plants facts, distracts, asks again and disagrees."""

__all__: list[str] = []

"""Stop models: how likely a user is to leave after an answer. Parts that every policy can be built with."""

__all__: list[str] = []

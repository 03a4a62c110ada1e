"""Users that wrap another user and change its words, its persona, or whether it asks again."""

__all__: list[str] = []

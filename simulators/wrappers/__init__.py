"""Users that hold a user, and change what it says: its words, who it is, or whether it asks again."""

__all__: list[str] = []

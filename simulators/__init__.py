"""Users: whoever takes the user's side of a conversation."""

__all__: list[str] = []

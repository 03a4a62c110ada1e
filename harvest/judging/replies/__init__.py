"""Questions to a model: each is asked once, several at a time, and the replies are kept."""

__all__: list[str] = []

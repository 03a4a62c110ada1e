"""Questions to a model, each of which is asked once, and its replies, which are kept."""

__all__: list[str] = []

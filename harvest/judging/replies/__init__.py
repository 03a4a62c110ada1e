"""Questions to a model, each of which is asked only once, and the stored replies."""

__all__: list[str] = []

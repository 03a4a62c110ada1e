"""The embedded parrot: an in-process assistant with known transition probabilities over a fictional catalogue."""

__all__: list[str] = []

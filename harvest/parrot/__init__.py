"""The embedded parrot: an in-process assistant of known transition probabilities over a fictional catalogue."""

__all__: list[str] = []

"""Nuggets that a model extracts: what it is asked, how its replies are read and kept, and the layer they become."""

__all__: list[str] = []

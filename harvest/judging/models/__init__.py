"""A model as judge: what it is asked, how strictly its replies are read, and how far it can be believed."""

__all__: list[str] = []

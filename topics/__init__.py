"""Topics: what conversations are about, how entities are grouped, and what is known to be relevant."""

__all__: list[str] = []

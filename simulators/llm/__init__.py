"""The user whose turns a language model words: what it is told, and which of its words are a person's."""

__all__: list[str] = []

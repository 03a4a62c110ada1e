"""The user whose turns a language model words: its instructions, and the rules for which words are accepted."""

__all__: list[str] = []

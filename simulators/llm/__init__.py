"""The user whose turns a language model words, with the instructions and the rules for accepting the model's words."""

__all__: list[str] = []

"""Rules that recognise kinds of answers, one module each; `registry` lists them."""

__all__: list[str] = []

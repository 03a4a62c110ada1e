"""Rules that recognise kinds of answers. `registry` lists them all."""

__all__: list[str] = []

"""Rules: what an answer is recognised by. One rule a module; `registry` names them all."""

__all__: list[str] = []

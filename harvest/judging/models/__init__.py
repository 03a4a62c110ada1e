"""A model as judge: its prompts, a strict reader of its replies, and evidence of its biases."""

__all__: list[str] = []

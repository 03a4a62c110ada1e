"""A model as a judge: its prompts, a strict reader of its replies, and evidence of its biases."""

__all__: list[str] = []

"""Stop models: the probability that a user leaves after an answer. Any policy can be built with a stop model."""

__all__: list[str] = []

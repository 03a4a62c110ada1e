"""Stop models: the probability that a user leaves after an answer. Any policy can be built with one."""

__all__: list[str] = []

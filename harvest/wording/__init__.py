"""Where words come from that no policy can make: endpoints of models, and the keyboard."""

__all__: list[str] = []

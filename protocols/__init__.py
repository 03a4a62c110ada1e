"""Protocols: the words of a user, and the choice of the next turn by the answer."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

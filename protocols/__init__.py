"""Protocols, which define the words of a user and how the next turn depends on the answer."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Topics, the subjects of conversations; groups of entities; and gold tables of relevant entities."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Topics: the subjects of conversations, the groups of entities, and what is known to be relevant."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

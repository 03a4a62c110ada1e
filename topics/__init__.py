"""Topics: what conversations are about, how entities are grouped, and what is known to be relevant."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

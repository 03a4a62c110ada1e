"""Harvest: audits of chat systems, played, recorded and scored."""

import lazy_loader

from harvest.shadowed import refuse_hidden_packages

refuse_hidden_packages()

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

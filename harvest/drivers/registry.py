from importlib import import_module
from topics.document import Document
def build_driver(name, options, surroundings, *, document=None, loc=()):
    module = import_module(f"harvest.drivers.{name}")
    return module.build(module.Options.model_validate(options), surroundings)

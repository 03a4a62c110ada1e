"""Modules beside a system's file that have the same name as one of Harvest's packages.

A researcher's `bot.py` may do `import scoring` and mean the `scoring.py` beside it, but in this process that name is
taken. So the code of such a file gets its own `__import__`, which looks for the five names beside the file first, as
Python would if the file were started as a program. The modules found are kept under unique names and get the same
`__import__`. All other imports are unchanged.
"""

import builtins
import sys
from collections.abc import Mapping, Sequence
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from harvest.shadowed import PACKAGES


class OwnModules:
    """Imports the code of one system. folder: the folder of its file. prefix: starts the unique names of its
    modules."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder, self._prefix = folder, prefix
        self._builtins = {**vars(builtins), "__import__": self._import}
        self._made: dict[str, ModuleType] = {}  # by the name that they are kept under
        self._making = RLock()  # functions import in other threads, and a module must not be run twice

    def run(self, name: str, path: Path) -> ModuleType:
        """Run the file `path` as a new module called `name`, even if it was run before."""
        inside = [str(path.parent)] if path.name == "__init__.py" else None
        spec = spec_from_file_location(name, path, submodule_search_locations=inside)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        module.__dict__["__builtins__"] = self._builtins
        # Before it is run: modules may import each other. Dataclasses and pickle look in the second place.
        self._made[name] = sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del self._made[name], sys.modules[name]
            raise
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - so Python calls it
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        own = ""
        if level:
            package = str((globals or {}).get("__package__") or "")
            if package.startswith(self._prefix):
                own = resolve_name("." * level + name, package).removeprefix(self._prefix)
        elif (top := name.partition(".")[0]) in PACKAGES and self._module_file(top) is not None:
            own = name
        if not own:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        with self._making:
            module = self._import_beside(own)
            for part in fromlist or ():
                if part != "*" and not hasattr(module, part) and self._module_file(f"{own}.{part}") is not None:
                    self._import_beside(f"{own}.{part}")
            return module if fromlist or level else self._import_beside(own.partition(".")[0])

    def _import_beside(self, own: str) -> ModuleType:
        """Import a module beside the file, with the packages that contain it."""
        above, _, last = own.rpartition(".")
        package = self._import_beside(above) if above else None
        if self._prefix + own in self._made:
            return self._made[self._prefix + own]
        path = self._module_file(own)
        if path is None:
            raise ModuleNotFoundError(f"No module named {own!r}", name=own)
        module = self.run(self._prefix + own, path)
        if package is not None:
            setattr(package, last, module)
        return module

    def _module_file(self, own: str) -> Path | None:
        base = self._folder.joinpath(*own.split("."))
        return next((one for one in (base / "__init__.py", base.with_name(f"{base.name}.py")) if one.is_file()), None)

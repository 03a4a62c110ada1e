"""What the six packages hand on: a frozen list with signatures, each name imported only when it is asked for."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import Any

from tests.support.checkout import DATA

PACKAGES = ("topics", "protocols", "recordings", "simulators", "scoring", "harvest")
FROZEN = DATA / "public_names.txt"


def described(value: Any) -> str:
    """What can be called, with its parameters; what cannot, by its type."""
    kind = "class" if inspect.isclass(value) else type(value).__name__
    if inspect.isclass(value) and getattr(value, "_is_protocol", False):
        return "protocol"
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return kind
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    shown = [str(one).split("=")[0] + ("=…" if one.default is not one.empty else "") for one in parameters]
    marked = list(shown)
    kinds = [one.kind for one in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        marked.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return f"{kind} ({', '.join(marked)})"


def listing() -> str:
    lines = []
    for package in PACKAGES:
        module = importlib.import_module(package)
        lines += [f"{package}.{name}: {described(getattr(module, name))}" for name in sorted(module.__all__)]
    return "\n".join(lines) + "\n"


def test_the_names_and_their_signatures_are_the_frozen_ones() -> None:
    """A change here is a change for everybody who uses Harvest from Python: say so in the changelog, then write the
    list again with `python -m tests.harvest.test_front_door`."""
    assert listing() == FROZEN.read_text(encoding="utf-8")


def test_importing_a_package_imports_neither_numpy_nor_pydantic_nor_a_browser() -> None:
    code = "import sys, {}; print(sorted({{'numpy', 'pydantic', 'playwright', 'httpx', 'rich'}} & set(sys.modules)))"
    for package in PACKAGES:
        done = subprocess.run([sys.executable, "-c", code.format(package)], capture_output=True, text=True, check=True)
        assert done.stdout == "[]\n", package


def test_every_name_has_a_docstring() -> None:
    for package in PACKAGES:
        module = importlib.import_module(package)
        assert [name for name in module.__all__ if not inspect.getdoc(getattr(module, name))] == []


if __name__ == "__main__":
    FROZEN.write_text(listing(), encoding="utf-8")

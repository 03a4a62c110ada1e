"""A check that no other file hides a package of Harvest.

For `python -m harvest` and in a notebook, Python looks for `scoring` in the current folder before it looks among
installed packages, and people who use Harvest have files called `scoring.py` and `topics.py`. Without this check,
such a person would see an error about a missing module of Harvest.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path

# The packages installed together with `harvest`.
PACKAGES = ("topics", "protocols", "recordings", "simulators", "scoring")


class HiddenPackageError(ImportError):
    """A file has the name of a package of Harvest, and Python would import the file instead."""


def refuse_hidden_packages() -> None:
    """Raise HiddenPackageError if a file hides a package of Harvest. The message names the file and a remedy. In a
    command, the message is printed instead and the process exits with 2, because the code that would catch the error
    is not imported yet."""
    ours = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        found = _module_file(name)
        if found is None or found.parent == ours / name:
            continue
        what = f"{found} hides Harvest's package {name!r}"
        advice = (
            "rename it (or uninstall the package it belongs to), or start Python in another folder; in a notebook, "
            "then restart the kernel"
        )
        # The script `harvest`, or `python -m harvest`: Python replaces "-m" only when it has found the package.
        if sys.argv[:1] == ["-m"] or Path(sys.argv[0] if sys.argv else "").name == "harvest":
            sys.stderr.write(f"error: {what}\n  do: {advice}\n")
            raise SystemExit(2)
        raise HiddenPackageError(f"{what}\n  do: {advice}", name=name, path=str(found))


def _module_file(name: str) -> Path | None:
    module = sys.modules.get(name)
    spec = PathFinder.find_spec(name) if module is None else module.__spec__
    if spec is not None and spec.origin is not None and spec.has_location:
        return Path(spec.origin).resolve()
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None

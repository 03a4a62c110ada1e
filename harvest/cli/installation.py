"""Is this installation whole? Our six top-level names belong to us alone, and what we ship can be read.

`topics`, `protocols`, `recordings`, … are plain words: another distribution that installs one of them would mix its
files with ours without a word. `foreign_owners` finds that.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import distributions

from harvest.shadowed import PACKAGES as BESIDE

DISTRIBUTION = "conversation-harvest"
PACKAGES = ("harvest", *BESIDE)


def owners_by_package() -> dict[str, set[str]]:
    """For each of our top-level names, the installed distributions that hold files under it."""
    found: dict[str, set[str]] = {package: set() for package in PACKAGES}
    for distribution in distributions():
        name = distribution.metadata["Name"] or "?"
        tops = {file.parts[0].removesuffix(".py") for file in distribution.files or () if file.parts}
        for package in tops & found.keys():
            found[package].add(name)
    return found


def foreign_owners(owners: Mapping[str, Iterable[str]]) -> list[str]:
    """A sentence for each of our names that somebody else holds too; empty where all is well."""
    return [
        f"the package {package!r} is also installed by {', '.join(sorted(others))}: uninstall it, or use an "
        f"environment of its own for {DISTRIBUTION}"
        for package, names in owners.items()
        if (others := {name for name in names if name.lower().replace("_", "-") != DISTRIBUTION})
    ]

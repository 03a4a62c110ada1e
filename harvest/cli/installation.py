"""Check that no other distribution shares the top-level packages of this installation.

The packages have plain names (`topics`, `protocols`, `recordings`, …). If another distribution had a package with
such a name, its files would silently mix with Harvest's.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import distributions

from harvest.shadowed import PACKAGES as OTHER_PACKAGES

DISTRIBUTION = "conversation-harvest"
PACKAGES = ("harvest", *OTHER_PACKAGES)


def owners_by_package() -> dict[str, set[str]]:
    """Return the names of the installed distributions that have files in each of Harvest's top-level packages."""
    found: dict[str, set[str]] = {package: set() for package in PACKAGES}
    for distribution in distributions():
        name = distribution.metadata["Name"] or "?"
        tops = {file.parts[0].removesuffix(".py") for file in distribution.files or () if file.parts}
        for package in tops & found.keys():
            found[package].add(name)
    return found


def foreign_owners(owners: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a sentence for each package of Harvest that another distribution also installs."""
    return [
        f"the package {package!r} is also installed by {', '.join(sorted(others))}: uninstall it, or use an "
        f"environment of its own for {DISTRIBUTION}"
        for package, names in owners.items()
        if (others := {name for name in names if name.lower().replace("_", "-") != DISTRIBUTION})
    ]

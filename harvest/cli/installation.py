"""Check what is installed: the packages of extras, and that no other distribution shares our top-level packages.

The packages have plain names (`topics`, `protocols`, `recordings`, …). If another distribution had a package with
such a name, its files would silently mix with Harvest's.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import distributions
from importlib.util import find_spec

from harvest.shadowed import PACKAGES as OTHER_PACKAGES
from topics.errors import InputError

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


def require_page_packages(what: str, otherwise: str = "") -> None:
    """Raise InputError if the packages that serve pages are missing. `what` names the feature that needs them, and
    `otherwise` is advice for people who cannot install them."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise InputError(
                f"{what} needs the package {package!r}, which is not installed",
                advice=f"pip install '.[serve]' in Harvest's folder{otherwise}",
            )

"""Reading the description of a site from a file, or from its inline form in an audit."""

from collections.abc import Mapping
from os import PathLike

from harvest.pages.sites.site import Site, SiteFile
from topics.document import Document, parse_document, read_document
from topics.errors import InputError


def load_site(path: str | PathLike[str]) -> SiteFile:
    """Read a site file. Raises InputError with file:line:column."""
    return _read_site(read_document(path))


def parse_site(text: str, path: str = "site") -> SiteFile:
    """Parse the text of a site file. Error messages call it `path`. Raises InputError."""
    return _read_site(parse_document(text, path))


def site_of(value: Mapping[str, object], path: str = "site") -> Site:
    """Return the site described inline or encoded by `encode_site`. Error messages call it `path`. Raises
    InputError."""
    model = SiteFile if "format" in value else Site
    return Document(path, _freeze(value), {}, {}).validated(model)


def _read_site(document: Document) -> SiteFile:
    if not isinstance(document.value, dict):
        raise document.error(
            (), "a site file is a mapping (key: value)", advice="begin it with: format: harvest-site/1"
        )
    given = document.value.get("format")
    if isinstance(given, str) and given.startswith("harvest-") and not given.startswith("harvest-site/"):
        raise document.error(("format",), f"this is a file of another kind ({given})", allowed="harvest-site/1")
    try:
        return document.validated(SiteFile)
    except InputError as fault:
        if given is None and fault.what.startswith("missing key 'format'"):
            raise InputError(fault.what, place=fault.place, advice="add it: format: harvest-site/1") from None
        raise


def _freeze(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _freeze(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(part) for part in value)
    return value

"""Machines with other fonts: a browser is started with a fontconfig of its own, and nothing changes on this machine.

How wide a word is, and so which button still fits on a line, depends on what is installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from tests.servers.environment import made_once
from tests.servers.npm_package import NpmPackage

__all__ = ["FONTS", "with_fonts"]

PACKAGES = {
    "DejaVu": NpmPackage(
        "dejavu-fonts-ttf",
        "2.37.3",
        "f1hd7jJbeQa1VWcw+K2KrTXS50zTMaHpVC4XIKJpNcDeYR5ajMtj/iLlQDYNvLOKamUB3ARVVCf79lNwNVztSQ==",
        ("ttf/DejaVuSans.ttf", "ttf/DejaVuSans-Bold.ttf", "ttf/DejaVuSansMono.ttf", "LICENSE"),
    ),
    "Liberation": NpmPackage(
        "pdfjs-dist",
        "3.11.174",
        "TdTZPf1trZ8/UFu5Cx/GXB7GZM30LT+wWUNfsi6Bq8ePLnb+woNKtDymI2mxZYBpMbonNFqKmiz684DIfnd8dA==",
        (
            "standard_fonts/LiberationSans-Regular.ttf",
            "standard_fonts/LiberationSans-Bold.ttf",
            "standard_fonts/LICENSE_LIBERATION",
        ),
    ),
    "Noto CJK": NpmPackage(
        "@embedpdf/fonts-jp",
        "1.0.0",
        "BY2tv/mcICUUKf+M/bizf3RU65PMqKClJ/e5o9mgMibxyML0OQvEDwYMRPODQkKgJKXCO3ScHmVvcmXp6kt+fA==",
        ("fonts/NotoSansJP-Regular.otf", "fonts/NotoSansJP-Bold.otf", "LICENSE"),
    ),
}
FONTS = tuple(PACKAGES)
"""Sets of fonts, beside those that this machine has."""


@contextmanager
def with_fonts(name: str) -> Iterator[None]:
    """Browsers that are started within have these fonts and no others."""
    before = os.environ.get("FONTCONFIG_FILE")
    os.environ["FONTCONFIG_FILE"] = str(_configured(name))
    try:
        yield
    finally:
        if before is None:
            del os.environ["FONTCONFIG_FILE"]
        else:
            os.environ["FONTCONFIG_FILE"] = before


def _configured(name: str) -> Path:
    fonts = PACKAGES[name].folder()

    def make(place: Path) -> None:
        place.mkdir()
        (place / "fonts.conf").write_text(
            '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig>'
            f"<dir>{escape(str(fonts))}</dir><cachedir>{escape(str(place / 'cache'))}</cachedir></fontconfig>",
            encoding="utf-8",
        )

    return made_once(f"fontconfig-{fonts.parent.name}", make) / "fonts.conf"

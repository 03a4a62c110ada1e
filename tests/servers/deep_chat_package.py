"""deep-chat's bundle, from npm: the tarball is pinned by its integrity, wherever it comes from.

npm fetches it where it is installed, with its own settings. Elsewhere it is fetched by HTTP from the registry that
`npm_config_registry` or ~/.npmrc names, else from the one npm uses when nothing is configured.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import tarfile
import urllib.request
from pathlib import Path

from servers.environment import made_once, run

__all__ = ["deep_chat_bundle"]

VERSION = "2.4.2"
SHA512 = "wQNd6Z6HDoH7OMeoQKpmxDm9XdWrRjMkBJ2yl5tsYND9Dz2UCv/BdGVM8vK2V0mhO1u+OniHYPWDGvjlNxjCeQ=="
TARBALL = f"deep-chat-{VERSION}.tgz"
NPM_DEFAULT = "https://registry.npmjs.org/"


def deep_chat_bundle() -> Path:
    """The one JavaScript file that a page needs."""
    return made_once(f"deep-chat-{VERSION}-{_hexadecimal()[:12]}", _make) / "package" / "dist" / "deepChat.bundle.js"


def _hexadecimal() -> str:
    return base64.b64decode(SHA512).hex()


def _make(place: Path) -> None:
    place.mkdir()
    npm = shutil.which("npm")
    if npm:
        run(npm, "pack", f"deep-chat@{VERSION}", "--silent", cwd=place)
    else:
        url = f"{_registry().rstrip('/')}/deep-chat/-/{TARBALL}"
        with urllib.request.urlopen(url, timeout=120) as response:
            (place / TARBALL).write_bytes(response.read())
    found = hashlib.sha512((place / TARBALL).read_bytes()).hexdigest()
    assert found == _hexadecimal(), f"{TARBALL} is not what was pinned: sha512 {found}"
    with tarfile.open(place / TARBALL) as tarball:
        tarball.extract("package/dist/deepChat.bundle.js", place, filter="data")
        tarball.extract("package/LICENSE", place, filter="data")


def _registry() -> str:
    for name, value in os.environ.items():  # npm takes it in either case
        if name.lower() == "npm_config_registry" and value:
            return value
    settings = Path.home() / ".npmrc"
    lines = settings.read_text(encoding="utf-8") if settings.exists() else ""
    named = re.search(r"^\s*registry\s*=\s*(\S+)", lines, re.MULTILINE)
    return named[1] if named else NPM_DEFAULT

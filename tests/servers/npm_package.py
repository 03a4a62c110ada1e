"""Files of packages from npm: a tarball is pinned by its integrity, wherever it comes from.

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
from dataclasses import dataclass
from pathlib import Path

from servers.environment import made_once, run

__all__ = ["DEEP_CHAT", "NpmPackage"]

NPM_DEFAULT = "https://registry.npmjs.org/"


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """sha512: as npm writes it, without `sha512-`. files: what is kept of it, by the path in the package."""

    name: str
    version: str
    sha512: str
    files: tuple[str, ...]

    def folder(self) -> Path:
        """Where its files are; fetched the first time."""
        kept = hashlib.sha256("\n".join(self.files).encode()).hexdigest()[:6]
        name = self.name.strip("@").replace("/", "-")
        return made_once(f"{name}-{self.version}-{self._hexadecimal[:12]}-{kept}", self._make) / "package"

    @property
    def _hexadecimal(self) -> str:
        return base64.b64decode(self.sha512).hex()

    def _make(self, place: Path) -> None:
        place.mkdir()
        npm = shutil.which("npm")
        if npm:
            fetched = place / run(npm, "pack", f"{self.name}@{self.version}", "--silent", cwd=place).split()[-1]
        else:
            tarball = f"{self.name.rpartition('/')[2]}-{self.version}.tgz"
            fetched = place / tarball
            with urllib.request.urlopen(f"{_registry().rstrip('/')}/{self.name}/-/{tarball}", timeout=120) as response:
                fetched.write_bytes(response.read())
        found = hashlib.sha512(fetched.read_bytes()).hexdigest()
        assert found == self._hexadecimal, f"{fetched.name} is not what was pinned: sha512 {found}"
        with tarfile.open(fetched) as opened:
            for file in self.files:
                opened.extract(f"package/{file}", place, filter="data")
        fetched.unlink()


def _registry() -> str:
    for name, value in os.environ.items():  # npm takes it in either case
        if name.lower() == "npm_config_registry" and value:
            return value
    settings = Path.home() / ".npmrc"
    lines = settings.read_text(encoding="utf-8") if settings.exists() else ""
    named = re.search(r"^\s*registry\s*=\s*(\S+)", lines, re.MULTILINE)
    return named[1] if named else NPM_DEFAULT


DEEP_CHAT = NpmPackage(
    "deep-chat",
    "2.4.2",
    "wQNd6Z6HDoH7OMeoQKpmxDm9XdWrRjMkBJ2yl5tsYND9Dz2UCv/BdGVM8vK2V0mhO1u+OniHYPWDGvjlNxjCeQ==",
    ("dist/deepChat.bundle.js", "LICENSE"),
)

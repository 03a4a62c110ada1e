"""Packages from npm: each tarball is pinned by its integrity, wherever it comes from.

npm fetches them where it is installed, with its own settings. Elsewhere they are fetched by HTTP from the registry that
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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.servers.environment import made_once, run

__all__ = ["DEEP_CHAT", "N8N_CHAT", "NpmPackage", "install", "pinned_in"]

NPM_DEFAULT = "https://registry.npmjs.org/"
TOGETHER = 8


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """sha512: as npm writes it, without `sha512-`. files: what is kept of it, by the path in the package; (): all."""

    name: str
    version: str
    sha512: str
    files: tuple[str, ...] = ()

    def folder(self) -> Path:
        """Where its files are; fetched the first time."""
        kept = hashlib.sha256("\n".join(self.files).encode()).hexdigest()[:6]
        name = self.name.strip("@").replace("/", "-")
        key = f"{name}-{self.version}-{self._hexadecimal[:12]}-{kept}"
        return made_once(key, lambda place: _unpacked([self], place, ("package",))) / "package"

    @property
    def tarball(self) -> str:
        """Its file name, as `npm pack` calls it."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"

    @property
    def _hexadecimal(self) -> str:
        return base64.b64decode(self.sha512).hex()

    def unpack(self, fetched: Path, folder: Path) -> None:
        """Its files from a tarball. Raises AssertionError where that is not the one that was pinned."""
        found = hashlib.sha512(fetched.read_bytes()).hexdigest()
        assert found == self._hexadecimal, f"{fetched.name} is not what was pinned: sha512 {found}"
        folder.mkdir(parents=True)
        with tarfile.open(fetched) as opened:
            for member in opened:
                inside = member.name.partition("/")[2]  # of its one top folder, which most call `package`
                if inside and (not self.files or inside in self.files):
                    opened.extract(member.replace(name=inside), folder, filter="data")


def pinned_in(pins: Path) -> list[NpmPackage]:
    """The packages of a file with a line for each: name, version, integrity."""
    rows = [line.split() for line in pins.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [NpmPackage(name, version, integrity.removeprefix("sha512-")) for name, version, integrity in rows]


def install(packages: Sequence[NpmPackage], place: Path) -> None:
    """Fetch packages and unpack each to `place/NAME`, as in a folder `node_modules`."""
    _unpacked(packages, place, [one.name for one in packages])


def _unpacked(packages: Sequence[NpmPackage], place: Path, folders: Sequence[str]) -> None:
    fetched = place / ".fetched"
    fetched.mkdir(parents=True)
    npm = shutil.which("npm")
    if npm:
        run(npm, "pack", *(f"{one.name}@{one.version}" for one in packages), "--silent", cwd=fetched)
    else:
        with ThreadPoolExecutor(TOGETHER) as pool:
            list(pool.map(lambda one: _fetch(one, fetched / one.tarball), packages))
    for one, folder in zip(packages, folders, strict=True):
        one.unpack(fetched / one.tarball, place / folder)
    shutil.rmtree(fetched)


def _fetch(package: NpmPackage, target: Path) -> None:
    file = f"{package.name.rpartition('/')[2]}-{package.version}.tgz"
    with urllib.request.urlopen(f"{_registry().rstrip('/')}/{package.name}/-/{file}", timeout=120) as response:
        target.write_bytes(response.read())


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
N8N_CHAT = NpmPackage(
    "@n8n/chat",
    "1.37.0",
    "V1EQxDp/+rW6o/5OZgbwDfgPJXG8Jrn3TIdq7Z/26QTP90Uo3g2gv8CMnaQcphdTQVR+K06X34DOCRHXa8Tqnw==",
)

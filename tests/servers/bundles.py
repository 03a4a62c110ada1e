"""Scripts for a page, bundled from packages of npm by esbuild's own program, which needs no Node."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.servers.environment import made_once, run
from tests.servers.npm_package import install, pinned_in

__all__ = ["bundled"]

BUILDERS = Path(__file__).parent / "esbuild.npm.txt"
PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
OPTIONS = (
    *("--bundle", "--format=iife", "--minify", "--loader:.css=text", "--jsx=automatic"),
    '--define:process.env.NODE_ENV="production"',
)


def bundled(sources: Path, pins: Path, *options: str) -> Path:
    """A folder with NAME.js for each script in `sources`; what they import is pinned in `pins`. Made once."""
    ours = sorted(path for path in sources.iterdir() if path.suffix in (".js", ".jsx"))
    written = _hash((BUILDERS, pins, *ours))
    return made_once(f"{sources.name}-{written}", lambda place: _bundle(place, ours, pins, options))


def _bundle(place: Path, ours: list[Path], pins: Path, options: Iterable[str]) -> None:
    system = "darwin" if sys.platform == "darwin" else "linux"
    name = f"@esbuild/{system}-{PROCESSORS[platform.machine().lower()]}"
    wanted = [*(one for one in pinned_in(BUILDERS) if one.name == name), *pinned_in(pins)]
    modules = made_once(f"modules-{_hash((BUILDERS, pins))}", lambda folder: install(wanted, folder))
    program = modules / name / "bin" / "esbuild"
    program.chmod(0o755)
    run("env", f"NODE_PATH={modules}", str(program), *map(str, ours), *OPTIONS, *options, f"--outdir={place}")


def _hash(files: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]

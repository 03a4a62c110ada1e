"""What the tests take from package indexes for servers nobody here wrote, each kept once in the test cache
(HARVEST_TEST_CACHE, or conversation-harvest in the user's cache folder) and named after what pins it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["made_once", "python_environment", "run"]

FOLDER = Path(__file__).parent


def cache() -> Path:
    given = os.environ.get("HARVEST_TEST_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(given) if given else base / "conversation-harvest"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name` in the cache, filled by `make` if no earlier run has done so to the end. One process at a
    time; a folder that was left half-made is made anew."""
    place = cache() / name
    with (cache() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            make(place)
            (place / "complete").touch()
    return place


def python_environment(name: str) -> Path:
    """An environment with what `NAME.txt` beside this file pins, for this Python."""
    pins = FOLDER / f"{name}.txt"
    text = pins.read_bytes()
    hashes = ["--require-hashes"] if b"--hash=" in text else []

    def make(place: Path) -> None:
        beside = Path(sys.executable).parent / "uv"
        uv = str(beside) if beside.exists() else shutil.which("uv")
        if uv:
            run(uv, "venv", "-q", "--python", sys.executable, str(place))
            # Compiled once here: the first start of a server would else take minutes on a busy machine.
            install = (uv, "pip", "install", "-q", "--compile-bytecode", "--python", str(place / "bin" / "python"))
            run(*install, *hashes, "-r", str(pins))
        else:
            run(sys.executable, "-m", "venv", str(place))
            run(str(place / "bin" / "python"), "-m", "pip", "install", "-q", *hashes, "-r", str(pins))

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return made_once(f"{name}-{version}-{hashlib.sha256(text).hexdigest()[:12]}", make)


def run(*command: str, cwd: Path | None = None) -> str:
    """What the command writes to standard output. A command that fails is an AssertionError with what it wrote."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(command[:4])} … failed:\n{(done.stdout + done.stderr)[-2000:]}"
    return done.stdout

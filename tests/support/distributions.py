"""Distributions of other people: packed into a wheel and installed into a folder, as from an index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.checkout import ROOT

__all__ = ["commands", "installed", "python"]

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1.2"

{entry_points}
[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""


def installed(folder: Path, name: str, files: Mapping[str, str], entry_points: Mapping[str, Mapping[str, str]]) -> Path:
    """The folder that the distribution was installed into. files: the modules of its one package, by file name.
    entry_points: by group, what each name stands for."""
    project, site, package = folder / "project", folder / "site", name.replace("-", "_")
    (project / package).mkdir(parents=True)
    groups = "".join(
        f'[project.entry-points."{group}"]\n' + "".join(f'{key} = "{value}"\n' for key, value in names.items()) + "\n"
        for group, names in entry_points.items()
    )
    (project / "pyproject.toml").write_text(PROJECT.format(name=name, package=package, entry_points=groups))
    for file, text in {"__init__.py": "", **files}.items():
        (project / package / file).write_text(text)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    subprocess.run(build, cwd=project, check=True, capture_output=True, timeout=300)
    (wheel,) = (project / "dist").glob("*.whl")
    install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--offline", "--no-deps", "--target", str(site)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True, timeout=300)
    return site


def python(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in `folder` with what is installed in `site`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def commands(site: Path, folder: Path, *several: Sequence[str]) -> list[subprocess.CompletedProcess[str]]:
    """What each `harvest` command comes to, one after another in one process that has what is installed in `site`."""
    done = python(site, folder, "-c", _COMMANDS, json.dumps(several))
    assert done.returncode == 0, done.stderr
    return [subprocess.CompletedProcess(list(words), *found) for words, found in zip(several, json.loads(done.stdout))]


_COMMANDS = """
import json, sys
from tests.support.command_line import harvest
done = [harvest(*words, width=80) for words in json.loads(sys.argv[1])]
print(json.dumps([(one.returncode, one.stdout, one.stderr) for one in done]))
"""

"""What a project has beside its code: the pages build, and the files that a forge reads are what it reads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

from tests.support.checkout import DOCS, ROOT

FORMS = {
    "CITATION.cff": "citation-file-format",
    ".github/workflows/test.yml": "github-workflows",
    ".github/dependabot.yml": "dependabot",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    ".github/ISSUE_TEMPLATE/bug.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/page.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/wish.yml": "github-issue-forms",
}


def build(*words: str) -> tuple[int, str]:
    """Build the pages in a process of its own: what Sphinx registers stays registered. Nobody sees its quotation marks,
    which take an eighth of the time."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "dummy", "-D", "smartquotes=0", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("file", FORMS)
def test_a_file_for_a_forge_has_the_right_form(file: str) -> None:
    checked = CliRunner().invoke(check_jsonschema, ["--builtin-schema", f"vendor.{FORMS[file]}", str(ROOT / file)])
    assert checked.exit_code == 0, checked.output


def test_every_file_for_a_forge_is_checked() -> None:
    assert {str(file.relative_to(ROOT)) for file in (ROOT / ".github").rglob("*.yml")} <= set(FORMS)


def test_the_forge_runs_what_we_run() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))["jobs"]
    assert [step["run"] for step in jobs["test"]["steps"] if "make" in step.get("run", "")] == ["make test"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]


def test_the_version_that_is_cited_is_this_one() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert f'version = "{cited["version"]}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_pages_and_the_reference_build_without_a_warning(tmp_path: Path) -> None:
    assert build("-W", "--keep-going", "-c", "docs", ".", str(tmp_path)) == (0, "")


def test_a_broken_link_or_an_orphan_page_fails_the_build(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    for name in ("conf.py", "README.md", "topics.md", "drivers.md"):
        (pages / name).write_bytes((DOCS / name).read_bytes())
    with (pages / "drivers.md").open("a", encoding="utf-8") as page:
        page.write("\n[nowhere](no-such-page.md)\n\n[no heading](topics.md#no-such-heading)\n")
    first = (pages / "README.md").read_text("utf-8")
    (pages / "README.md").write_text(re.sub(r".*topics\.md.*\n", "", first), "utf-8")
    code, said = build("-c", str(pages), str(tmp_path), str(tmp_path / "built"))
    assert code == 0, said
    for place, warning in (("drivers.md", "no-such-page"), ("drivers.md", "no-such-heading"), ("topics.md", "toctree")):
        assert [line for line in said.splitlines() if f"{place}:" in line and warning in line], said

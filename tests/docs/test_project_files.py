"""What a project has beside its code: the pages build, and the files that a forge reads are what it reads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("file", FORMS)
def test_a_file_for_a_forge_is_of_its_form(file: str) -> None:
    code, said = run("check_jsonschema", "--builtin-schema", f"vendor.{FORMS[file]}", file)
    assert code == 0, said


def test_every_file_for_a_forge_is_looked_at() -> None:
    assert {str(file.relative_to(ROOT)) for file in (ROOT / ".github").rglob("*.yml")} <= set(FORMS)


def test_the_forge_runs_what_we_run() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))["jobs"]
    assert [step["run"] for step in jobs["test"]["steps"] if "make" in step.get("run", "")] == ["make test"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]


def test_the_version_that_is_cited_is_this_one() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert f'version = "{cited["version"]}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_pages_and_the_reference_build_without_a_warning(tmp_path: Path) -> None:
    code, said = run("sphinx", "-W", "--keep-going", "-q", "-b", "dummy", "-c", "docs", ".", str(tmp_path))
    assert (code, said) == (0, "")


@pytest.mark.parametrize(
    ("page", "text", "warning"),
    [
        ("topics.md", "\n[nowhere](no-such-page.md)\n", "no-such-page"),
        ("topics.md", "\n[no heading](drivers.md#no-such-heading)\n", "no-such-heading"),
        ("README.md", "", "toctree"),
    ],
)
def test_a_broken_link_or_a_page_to_which_none_leads_fails_the_build(
    tmp_path: Path, page: str, text: str, warning: str
) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    for name in ("conf.py", "README.md", "topics.md", "drivers.md"):
        (pages / name).write_bytes((DOCS / name).read_bytes())
    told = (pages / page).read_text("utf-8")
    (pages / page).write_text(re.sub(r".*topics\.md.*\n", "", told) if page == "README.md" else told + text, "utf-8")
    built = str(tmp_path / "built")
    code, said = run("sphinx", "-q", "-b", "dummy", "-c", str(pages), str(tmp_path), built)
    assert code == 0, said
    assert [line for line in said.splitlines() if warning in line], said

"""`harvest doctor`: check this machine and installation, and explain how to correct faults."""

import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from harvest.cli.installation import DISTRIBUTION, foreign_owners, owners_by_package
from harvest.cli.interruption import run_until_stopped
from harvest.cli.parameters import NameOrFile
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import prose_width, wrap_lines
from topics.counting import pluralize

LIBRARIES = (
    "aiohttp",
    "click",
    "httpx",
    "jinja2",
    "numpy",
    "playwright",
    "pydantic",
    "pyyaml",
    "rich",
    "yarl",
)
_MARGIN = " " * 7  # the column of the state
_START_TIMEOUT = 20.0  # seconds for a browser to start, which takes several on a cold disk


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One result of the check. The state is `ok`, `note` (usable, with a caveat) or `fault`."""

    what: str
    state: str
    detail: str


@click.command()
@click.option(
    "--audit", type=NameOrFile(), metavar="AUDIT.yaml", help="Also resolve this audit and its secrets; sends nothing."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(audit: str | None, as_json: bool) -> int:
    """Check this machine and report what is missing."""
    findings = [*_check_installation(), *_check_shipped_files(), _check_disk(), _check_browser()]
    if audit:
        findings.append(_check_audit(audit))
    faults = [finding for finding in findings if finding.state == "fault"]
    if as_json:
        click.echo(json.dumps({"format": "harvest-doctor/1", "findings": [asdict(f) for f in findings]}, indent=2))
    else:
        for finding in findings:
            said = wrap_lines(f"{_MARGIN}{finding.what}: {finding.detail}", prose_width())
            click.echo(f"{finding.state:>5}  {said.removeprefix(_MARGIN)}")
        click.echo("\nall is well" if not faults else f"\n{len(faults)} to correct, marked `fault` above")
    return 2 if faults else 0


def _check_installation() -> Iterator[CheckFinding]:
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield CheckFinding("Python", "ok" if sys.version_info >= (3, 11) else "fault", detail)
    for name in (DISTRIBUTION, *LIBRARIES):
        try:
            yield CheckFinding(name, "ok", version(name))
        except PackageNotFoundError:
            yield CheckFinding(name, "fault", f"not installed: pip install {name}")
    sentences = foreign_owners(owners_by_package())
    yield from (CheckFinding("package names", "fault", sentence) for sentence in sentences)
    if not sentences:
        yield CheckFinding("package names", "ok", "no other distribution uses one of our package names")


def _check_shipped_files() -> Iterator[CheckFinding]:
    from harvest.audits.audit import load_audit
    from harvest.audits.audit_file import shipped_audits
    from protocols.library import shipped_protocols
    from simulators.registry import SIMULATORS, plug_ins, simulator
    from topics.errors import InputError
    from topics.library import shipped_topics

    for name in shipped_audits():
        load_audit(name)
    names = ", ".join((*shipped_topics(), *shipped_protocols(), *shipped_audits()))
    yield CheckFinding("shipped files", "ok", f"{names} load")
    try:
        others = plug_ins()
        for name in (*SIMULATORS, *others):
            simulator(name)
        yield CheckFinding("simulators", "ok", ", ".join((*SIMULATORS, *others)))
    except InputError as fault:
        yield CheckFinding("simulators", "fault", str(fault))


def _check_disk() -> CheckFinding:
    """Measure the duration of an fsync in the folder of runs, because a run waits for one at every recorded turn."""
    try:
        with tempfile.NamedTemporaryFile(dir=Path.cwd(), prefix=".harvest-doctor-") as file:
            started = REAL_CLOCK.monotonic()
            for _ in range(20):
                file.write(b"{}\n")
                file.flush()
                os.fsync(file.fileno())
            spent = (REAL_CLOCK.monotonic() - started) / 20
    except OSError as fault:
        return CheckFinding("disk", "fault", f"cannot write here ({fault.strerror}); choose another folder with --out")
    state = "ok" if spent < 0.05 else "note"
    return CheckFinding("disk", state, f"storing a turn safely takes {1000 * spent:.1f} ms here")


def _check_browser() -> CheckFinding:
    """Start the driver's browser once without a window. A missing browser is a note, as other drivers need no
    browser."""
    import asyncio

    from harvest.pages.browser.installed import VARIABLE, find_browser
    from harvest.pages.browser.process import Browser, find_playwright_browser
    from harvest.pages.browser.settings import BrowserSettings
    from harvest.systems.driver import DriverError
    from topics.errors import InputError

    async def version(path: Path) -> str:
        async with asyncio.timeout(_START_TIMEOUT):
            browser = await Browser.launch(BrowserSettings(executable=path))
        try:
            return browser.version
        finally:
            await browser.close()

    try:
        found = find_browser(os.environ, own=find_playwright_browser)
    except InputError as fault:
        only = "" if os.environ.get(VARIABLE) else "; only the browser driver needs one"
        detail = f"{fault.what}{only}. To get one: {fault.advice}"
        return CheckFinding("browser", "fault" if os.environ.get(VARIABLE) else "note", detail)
    try:
        return CheckFinding("browser", "ok", f"{run_until_stopped(version(found.path))} at {found.path} ({found.how})")
    except (DriverError, TimeoutError) as fault:
        why = fault.detail if isinstance(fault, DriverError) else f"it did not start within {_START_TIMEOUT:g} s"
        return CheckFinding("browser", "note", f"{found.path} ({found.how}) does not start: {why}")


def _check_audit(name: str) -> CheckFinding:
    from harvest.audits.audit import load_audit
    from topics.errors import InputError

    try:
        audit = load_audit(name)
    except InputError as fault:
        return CheckFinding("audit", "fault", str(fault))
    systems, topics = pluralize(len(audit.systems), "system"), pluralize(len(audit.topics.topics), "topic")
    return CheckFinding("audit", "ok", f"{audit.name}: {systems}, {topics}")

"""docs/performance.md, of which each benchmark writes one part and leaves the others as they are."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.checkout import DOCS

__all__ = ["BOUNDS", "HEADING", "PAGE", "Bounded", "machine", "write_part"]

PAGE = DOCS / "performance.md"
BOUNDS = """**Bounds.** A bound in the tables is an aim that those who build Harvest set in the code of the benchmark
(`tests/benchmarks`), for a machine of this size. It is taken from no paper and no standard, and is no promise: times
vary with the machine. What misses its bound stays in the table."""
HEADING = "| what | figure | bound | held | |\n|---|---|---|---|---|"


@dataclass(frozen=True)
class Bounded:
    """A measured value beside the bound it is held to: of seconds, MB and ratios the most it may be, of a pace
    (unit `…/s`) the least."""

    what: str
    value: float
    bound: float
    unit: str
    note: str = ""

    @property
    def held(self) -> bool:
        return self.value >= self.bound if self.unit.endswith("/s") else self.value <= self.bound

    def row(self) -> str:
        sign = "≥" if self.unit.endswith("/s") else "≤"
        value, bound = (f"{one:,.0f}" if one >= 100 else f"{one:.3g}" for one in (self.value, self.bound))
        held = "yes" if self.held else "**no**"
        return f"| {self.what} | {value} {self.unit} | {sign} {bound} {self.unit} | {held} | {self.note} |"


def machine() -> str:
    """The kind of machine, not its name."""
    model = ""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        model = platform.processor()
    cores = os.cpu_count()
    return f"{platform.system()} on {platform.machine()}, {cores} cores ({model or 'unknown'}), Python " + (
        platform.python_version()
    )


def write_part(name: str, text: str) -> None:
    """Put `text` where the page has the part `name`, or at its end."""
    begin, end = f"<!-- part: {name} -->\n", f"<!-- end of part: {name} -->\n"
    part = f"{begin}{text.rstrip()}\n{end}"
    page = PAGE.read_text(encoding="utf-8")
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    changed, count = found.subn(lambda _: part, page)
    PAGE.write_text(changed if count else f"{page.rstrip()}\n\n{part}", encoding="utf-8")

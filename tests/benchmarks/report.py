"""What a report of a large run costs: 45 topics × 56 trials × 4 systems, 10,080 conversations that were really played.

    python -m tests.benchmarks.report                 plays the run first, half a minute
    python -m tests.benchmarks.report --run FOLDER    plays it there, or takes the one that is there
    python -m tests.benchmarks.report --trials 5      a quick look

Seconds of the processor and of the clock of `harvest report`, a process each; bytes of the page, and of what lies
beside it; then in Chromium, from the disk: milliseconds until the page is first painted, until its script is done, and
from an address that names a conversation until that conversation is painted; from the sight of the filters until all
texts are read, and of searches then. Medians, and the slowest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.studies import played, spent
from tests.support.browsing import settings

__all__ = ["main"]

ROUNDS, WINDOWS, OPENED = 3, 5, 20
WORDS = ("matrix", "the", "youtube.com/watch", "no such words", "e")

_PAINTED = """() => new Promise(done => {
  const first = performance.getEntriesByName('first-contentful-paint')[0];
  if (first) done(first.startTime);
  else new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (one.name === 'first-contentful-paint') done(one.startTime);
  }).observe({ type: 'paint', buffered: true });
})"""

_OPENED = """address => new Promise(done => {
  const began = performance.now();
  const look = () => {
    const shown = document.querySelector('#text .said.system') && !document.getElementById('reader').hidden;
    if (shown) requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
    else setTimeout(look, 0);
  };
  location.hash = address;
  setTimeout(look, 0);
})"""

_SEARCHED = """words => new Promise(done => {
  const [began, filters, shown] = [performance.now(), document.forms.filters, document.getElementById('shown')];
  filters.elements.words.value = words;
  filters.elements.words.dispatchEvent(new Event('change', { bubbles: true }));
  const look = () => {
    const there = shown.textContent.includes('with “' + words + '”');
    if (there) requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
    else setTimeout(look, 0);
  };
  setTimeout(look, 0);
})"""

_ADDRESS = """place => {
  const index = JSON.parse(document.getElementById('index').textContent);
  const of = (name, list) => name + '=' + encodeURIComponent(list[index[name][place]]);
  return [of('topic', index.topics), of('system', index.systems), 'trial=' + index.trial[place]].join('&');
}"""


def ready(window: Page, page: Path) -> tuple[float, float]:
    """Milliseconds until it is painted, and until its script is done."""
    window.goto(page.as_uri())
    painted = float(window.evaluate(_PAINTED))
    done = str(window.evaluate("document.documentElement.dataset.ready"))
    return painted, float(done)


def opened(window: Page) -> Iterator[float]:
    """Milliseconds until each of some conversations, evenly spread over the run, is painted."""
    count = int(str(window.evaluate("JSON.parse(document.getElementById('index').textContent).system.length")))
    for place in range(0, count, max(1, count // OPENED)):
        address = str(window.evaluate(_ADDRESS, place))
        yield float(window.evaluate(_OPENED, address))
        window.locator("#close").click()


def searched(window: Page) -> Iterator[float]:
    """Milliseconds from the sight of the filters until all texts are read, and of each search then."""
    began = float(window.evaluate("document.forms.filters.scrollIntoView(), performance.now()"))
    while not window.evaluate("document.documentElement.dataset.searchable"):
        window.wait_for_timeout(20)
    yield float(str(window.evaluate("document.documentElement.dataset.searchable"))) - began
    for words in WORDS:
        yield float(window.evaluate(_SEARCHED, words))


def measured(browser: Browser, page: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"painted": [], "ready": [], "a first conversation": [], "a later one": []}
    found |= {"texts read": [], "a first search": [], "a later search": []}
    for _ in range(WINDOWS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        window = context.new_page()
        painted, done = ready(window, page)
        found["painted"].append(painted)
        found["ready"].append(done)
        first, *later = opened(window)  # the first while the page is still being drawn, sooner than people can click
        found["a first conversation"].append(first)
        found["a later one"] += later
        context.close()
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        window = context.new_page()
        ready(window, page)
        texts, first, *later = searched(window)
        found["texts read"].append(texts)
        found["a first search"].append(first)
        found["a later search"] += later
        context.close()
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--run", type=Path)
    options.add_argument("--trials", type=int, default=56)
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = played(given.run or Path(folder) / "large", given.trials)
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "harvest", "report", str(run), "--out", str(page), "--force"]
        times = [spent(command) for _ in range(given.rounds)]
        beside = list(page.with_name("report-files").glob("*.js"))
        print(f"{4 * 45 * given.trials:,} conversations, {os.cpu_count()} cores")
        cpu, clock = (statistics.median(one[at] for one in times) for at in (0, 1))
        print(f"harvest report: {cpu:.1f} s of the processor, {clock:.1f} s of the clock")
        size = sum(file.stat().st_size for file in beside)
        print(f"page: {page.stat().st_size / 1e6:.2f} MB; beside it: {len(beside)} files of {size / 1e6:.1f} MB")
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=settings().executable, args=["--no-sandbox"])
            for name, each in measured(browser, page).items():
                print(f"{name:<20} {statistics.median(each):>6.0f} ms, at most {max(each):.0f} ms")
            browser.close()


if __name__ == "__main__":
    main()

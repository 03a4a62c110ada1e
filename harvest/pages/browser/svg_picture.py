"""An SVG file as pixels, by the browser that is there anyway: the same letters and colours as on a page."""

import re
import tempfile
from pathlib import Path

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
_MOST_PIXELS = 16_000  # along one side: more than browsers draw


async def rendered(svg: str, executable: Path, *, dark: bool = False, scale: float = 2.0) -> bytes:
    """PNG of an SVG file of ours, whose root says its size in pixels.

    executable: the browser. dark: as on dark screens. scale: pixels for each of the file's, less for one that is very
    long. Raises DriverError where the browser cannot be started or breaks off, ValueError for a file without a size.
    """
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("the picture does not say how large it is")
    width, height = int(size[1]), int(size[2])
    settings = BrowserSettings(
        executable=executable,
        viewport=(width, height),
        colours="dark" if dark else "light",
    )
    browser = await Browser.launch(settings)
    try:
        window = await browser.sitting(settings)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "picture.svg"
            page.write_text(svg, encoding="utf-8")
            await window.goto(page.as_uri())
            return await window.screenshot(min(scale, _MOST_PIXELS / max(width, height)))
    finally:
        await browser.close()

"""An SVG file as pixels, drawn by the browser with the same fonts and colours as on a page."""

import re
import tempfile
from pathlib import Path

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
_MOST_PIXELS = 16_000  # along one side: more than browsers draw


async def render_svg(svg: str, executable: Path, *, dark: bool = False, scale: float = 2.0) -> bytes:
    """Return an SVG file of ours, whose root element gives its size in pixels, as PNG.

    dark: use the dark colour scheme. scale: pixels for each pixel of the file, less for a very long one. Raises
    DriverError if the browser cannot be started or ends, ValueError for a file without a size.
    """
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("the picture has no size")
    width, height = int(size[1]), int(size[2])
    settings = BrowserSettings(executable=executable, viewport=(width, height), colours="dark" if dark else "light")
    browser = await Browser.launch(settings)
    try:
        window = await browser.open_window(settings)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "picture.svg"
            page.write_text(svg, encoding="utf-8")
            await window.goto(page.as_uri())
            return await window.screenshot(min(scale, _MOST_PIXELS / max(width, height)))
    finally:
        await browser.close()

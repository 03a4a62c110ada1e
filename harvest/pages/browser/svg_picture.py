"""Rendering of an SVG file as pixels by the browser, with the fonts and colours that a page would have."""

import re
import tempfile
from pathlib import Path

from harvest.pages.browser.process import Browser
from harvest.pages.browser.settings import BrowserSettings

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
_MOST_PIXELS = 16_000  # along one side: more than browsers draw


async def render_svg(svg: str, executable: Path, *, dark: bool = False, scale: float = 2.0) -> bytes:
    """Render one of Harvest's SVG files and return the picture as PNG. The root element of the file gives the size in
    pixels. `dark` selects the dark colour scheme. `scale` is the number of pixels in the result per pixel of the
    file, and is reduced for a very long file. Raises DriverError if the browser cannot be started or ends, and
    ValueError if the file has no size."""
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("the root element of the SVG file has no width and height")
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

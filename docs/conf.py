"""How `make docs` builds the pages: those of this folder, and a reference of the front doors from their docstrings."""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

project = "Harvest"
author = "The Harvest founders"
root_doc = "docs/README"
include_patterns = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "docs/*/*.md"]
exclude_patterns = [".*", "[a-ce-z]*"]  # where no page is: to look through a virtual environment takes seconds

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature has them
html_theme = "furo"
html_title = "Harvest"

_PAGE = re.compile(r"\]\(([^)#:]+)\.md\)")


def _add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Make the sidebar of the links on the first page. Sphinx warns of a page to which none leads."""
    if page == root_doc:
        pages = "\n".join(dict.fromkeys(_PAGE.findall(source[0])))
        source[0] += f"\n```{{toctree}}\n:hidden:\n{pages}\n```\n"


def _warn_of_silence(app: Sphinx, what: str, name: str, it: object, options: Any, lines: list[str]) -> None:
    """A public name without a docstring is a fault of the documentation."""
    if not any(lines):
        logging.getLogger(__name__).warning("%s %s has no docstring", what, name)


def setup(app: Sphinx) -> None:
    app.connect("source-read", _add_contents)
    app.connect("autodoc-process-docstring", _warn_of_silence)

"""The page about APIs comes from the recipes; that its examples work is in tests/harvest/drivers/test_recipes.py.

Run as a program, it writes the sections anew: `python -m tests.docs.test_doors`.
"""

from __future__ import annotations

import textwrap
import typing

from harvest.audits.starter_files import starter_system
from harvest.drivers.options import WireOptions
from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import recipe_names
from tests.docs.test_drivers import _default, _kind
from tests.support.checkout import DOCS

PAGE = DOCS / "doors.md"
EVERYWHERE = ("stream", "thoughts_apart", "extra")
"""Options that the page explains once."""


def section(name: str) -> str:
    recipe = read_recipe(name)
    about = recipe.file.about[0].upper() + recipe.file.about[1:]
    whole = "" if "stream" in recipe.options else "; not streamed"
    hints = typing.get_type_hints(recipe.Options, include_extras=True)
    rows = ["| option | type | default | meaning |", "| --- | --- | --- | --- |"]
    for key, field in recipe.Options.model_fields.items():
        if key not in WireOptions.model_fields and key not in EVERYWHERE:
            default = _default(field)
            shown = default if default in ("required", "–") else f"`{default}`"
            rows.append(f"| `{key}` | {_kind(hints[key])} | {shown} | {field.description} |")
    parts = [
        f"## {name}",
        textwrap.fill(f"{about}{whole}. {recipe.file.notes} Written from: {recipe.file.source}.", 120),
        f"```yaml\n{starter_system(name)}```",
        "\n".join(rows),
    ]
    return "\n\n".join(parts) + "\n"


def page() -> str:
    before = PAGE.read_text(encoding="utf-8").partition("\n<!-- recipes -->")[0]
    return "\n".join((before, "<!-- recipes -->", *map(section, recipe_names())))


def test_the_sections_are_those_of_the_recipes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "renew them with: python -m tests.docs.test_doors"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

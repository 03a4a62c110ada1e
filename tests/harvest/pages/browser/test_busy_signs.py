"""The declared signs: what the eye is told of them, and that its own code names no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

from harvest.pages.browser import part
from harvest.pages.browser.busy_signs import FIRM, LOOSE, NETWORK, SIGNS, STARTED, TRUSTED, BusySign, signs_source
from harvest.pages.browser.part import eye_source

EYE = "\n".join(one.read_text() for one in sorted((Path(part.__file__).parent / "eye").glob("*.js")))


def told(*signs: BusySign) -> list[dict[str, object]]:
    return json.loads(signs_source(signs).removeprefix("const SIGNS = ").removesuffix(";"))  # type: ignore[no-any-return]


def test_signs_are_judged_as_they_are_declared() -> None:
    assert sorted(TRUSTED) == ["busy", "site", "stop"]
    assert sorted(FIRM - TRUSTED) == [NETWORK]
    assert sorted(LOOSE) == ["animation", "composer", "hint", "progress", "send"]
    assert sorted(STARTED) == ["busy", "composer", "progress", "send", "site", "stop"]


def test_the_eye_knows_how_to_find_a_sign_and_which_attributes_to_watch() -> None:
    sign = BusySign("streaming", "trusted", css='[data-streaming="true"], main [ data-phase=writing ]', near=True)
    assert told(sign, BusySign(NETWORK, "firm")) == [
        {
            "name": "streaming",
            "css": '[data-streaming="true"], main [ data-phase=writing ]',
            "attributes": ["data-streaming", "data-phase"],
            "near": True,
            "textless": False,
        }
    ]
    assert signs_source() in eye_source()


def test_a_sign_without_a_selector_has_its_own_code_and_one_with_a_selector_does_not() -> None:
    named = set(re.findall(r"""(?:\.push\(\[?|there\.add\()"([a-z]+)\"""", EYE))
    assert named == {sign.name for sign in SIGNS if not sign.css and sign.name != NETWORK}

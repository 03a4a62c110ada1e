"""A known secret is found whatever stands between its letters, in other letters for the same, and in codes for bytes;
ordinary words and numbers that only spell one are left alone."""

import base64
import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.secrets.bare_text import fold_variants, normal_form
from recordings.secrets.redaction import Redactor, count_marks

SECRETS = ("tok_3f9a8b7c6d5e4f3a2b1c", "Kanarie-41!geel/vogel+zang=", "correct-horse-battery", "q7Zp2Lx9")

BETWEEN = ["\u200b", "\ufe0f", "\U000e0101", "\u2060\ufeff", "\u00ad", "\u034f", "\u180e", "\u202e", "\u3164", "\0"]


def numbers(form: str, between: str) -> Callable[[bytes], str]:
    return lambda data: between.join(form.format(byte) for byte in data)


CODES: dict[str, Callable[[bytes], str]] = {
    "hex with blanks": numbers("{:02x}", " "),
    "hex with colons": numbers("{:02X}", ":"),
    "hex with 0x": numbers("0x{:02x}", ", "),
    "hex over lines": numbers("{:02x}", "\n"),
    "octal": numbers("\\{:o}", ""),
    "octal of three digits": numbers("{:03o}", " "),
    "octal with 0o": numbers("0o{:o}", ","),
    "octal with 0": numbers("0{:o}", " "),
    "decimal": numbers("{}", ", "),
    "base32": lambda data: base64.b32encode(data).decode(),
    "base32 in lower case": lambda data: base64.b32encode(data).decode().lower().rstrip("="),
    "base64 over lines": lambda data: base64.encodebytes(b"x" * 49 + data).decode(),
    "base64 twice": lambda data: base64.b64encode(base64.b64encode(data)).decode(),
    "base64 twice, within": lambda data: base64.b64encode(b"a=" + base64.b64encode(b"user:" + data)).decode(),
    "base64 twice, of URLs": lambda data: base64.urlsafe_b64encode(base64.urlsafe_b64encode(data)).decode(),
}
GROUPS: dict[str, Callable[[bytes], str]] = {
    "base85": lambda data: base64.b85encode(data).decode(),
    "base85, within": lambda data: base64.b85encode(b"abc" + data + b"!").decode(),
    "ascii85": lambda data: base64.a85encode(data).decode(),
}


def wide(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


def is_gone(secret: str, form: str) -> bool:
    """No three of its letters or digits in a row are left, in text and in what JSON makes of it."""
    redactor = Redactor([secret])
    whole = "".join(letter for letter in secret if letter.isalnum())
    for text in (form, json.dumps(form), json.dumps(json.dumps(form))):
        for before, after in (("", ""), ("it is ", " indeed"), ("x\n", "\ny")):
            found = redactor.text(before + text + after)
            left = fold_variants("".join(letter for letter in found if fold_variants(letter).isalnum()))
            if not count_marks(found) or any(whole[at : at + 3] in left for at in range(len(whole) - 2)):
                return False
            assert redactor.text(found) == found
            if before == "it is ":
                assert found.endswith(" indeed")
    return True


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("between", BETWEEN)
def test_characters_of_no_width_hide_nothing(secret: str, between: str) -> None:
    assert is_gone(secret, between.join(secret))
    assert is_gone(secret, secret[:5] + between + secret[5:])


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("between", ["\n", "\r\n", "\n    ", " \n", "\u2028"])
def test_a_line_break_inside_hides_nothing(secret: str, between: str) -> None:
    assert is_gone(secret, secret[:4] + between + secret[4:])


@pytest.mark.parametrize("secret", SECRETS)
def test_lookalike_letters_hide_nothing(secret: str) -> None:
    assert is_gone(secret, wide(secret))
    assert is_gone(secret, "\u200b".join(wide(secret)))
    bold = "".join(chr(0x1D41A + ord(letter) - 97) if "a" <= letter <= "z" else letter for letter in secret)
    assert is_gone(secret, bold)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("code", CODES)
def test_a_code_for_its_bytes_is_found(secret: str, code: str) -> None:
    form = CODES[code](secret.encode())
    found = Redactor([secret]).text(f"before {form} after")
    assert (count_marks(found), found[:7], found[-6:]) == (1, "before ", " after")
    for text in (form, json.dumps(form)):
        found = Redactor([secret]).text(text)
        assert count_marks(found) == 1
        left = normal_form(found.replace("[redacted:secret]", ""))
        assert len(left) < len(normal_form(text)) / 2 or code in ("base64 over lines", "base64 twice, within")


@pytest.mark.parametrize("secret", [secret for secret in SECRETS if len(secret) >= 20])
@pytest.mark.parametrize("code", GROUPS)
def test_a_code_in_groups_of_five_is_found(secret: str, code: str) -> None:
    form = GROUPS[code](secret.encode())
    found = Redactor([secret]).text(f"before {form} after")
    assert count_marks(found) == 1
    assert len(found) <= len("before [redacted:secret] after") + 10


@pytest.mark.parametrize("size", [100, 10_000, 1_200_000])
def test_a_secret_is_found_in_short_and_in_long_texts(size: int) -> None:
    draw = random.Random(size)
    secret = SECRETS[0]
    for code in ("hex with blanks", "base64 twice", "base32"):
        around = "".join(draw.choices("abcdefgh 0123456789\n", k=size))
        form = CODES[code](secret.encode())
        found = Redactor([secret]).text(f"{around} | {form} | {around}")
        assert (count_marks(found), found.startswith(around), found.endswith(around)) == (1, True, True)


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("projectmanager", "The project manager, Project-Manager and project: manager."),
        ("correct-horse-battery", "A correct horse battery; correct, horse, battery."),
        ("20231127", "On 2023-11-27, 2023/11/27 or 2023 11 27"),
        ("!!!!hotels!!!!", "hotels and more hotels"),
        ("tok_3f9a8b7c6d5e4f3a2b1c", "tok 3f9a 8b7c and more; d41d8cd98f00b204e9800998ecf8427e " + "1, 2, 3, " * 40),
        ("a-secret-of-words", "a secret\u200b of words"),
    ],
)
def test_ordinary_words_and_numbers_are_unchanged(secret: str, text: str) -> None:
    assert Redactor([secret]).text(text) == text


def test_two_texts_together_do_not_form_a_secret() -> None:
    redactor = Redactor([SECRETS[0]])
    apart = [SECRETS[0][:11], SECRETS[0][11:]]
    assert redactor.texts(apart) == apart


@given(
    st.text(st.sampled_from("abcXYZ012_-./+=!"), min_size=12, max_size=40).filter(
        lambda text: len(normal_form(text)) >= 12 and any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    ),
    st.lists(st.sampled_from(["", " ", "\u200b", "\n", "-", ":", "\ufe0f", ", "]), min_size=40, max_size=40),
)
def test_a_key_is_found_whatever_is_between_its_letters(secret: str, between: list[str]) -> None:
    text = "".join(map("".join, zip(secret, between)))
    assert normal_form(secret) not in normal_form(Redactor([secret]).text(text))


@given(st.text(max_size=60))
def test_folding_keeps_places(text: str) -> None:
    assert len(fold_variants(text)) == len(text)

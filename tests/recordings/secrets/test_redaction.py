"""Redaction: no secret reaches the disk in any form, and nothing else is touched."""

from __future__ import annotations

import asyncio
import base64
import html
import itertools
import json
import random
import re
import string
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Evidence, Route
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Failed, Routed, TrialEnded, TrialStarted
from recordings.log.header import Header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.secrets.redaction import Redactor, count_marks
from recordings.secrets.secret_forms import parts_of
from topics.links import Link

CANARIES = ("Kanarie-41!geel/vogel+zang=", 'p"ass\\w0rd <ü> & more', "tok_3f9a8b7c6d5e4f3a2b1c")


def encodings(secret: str) -> dict[str, str]:
    data = secret.encode()
    found = {
        "raw": secret,
        "json": json.dumps(secret)[1:-1],
        "json, real characters": json.dumps(secret, ensure_ascii=False)[1:-1],
        "json in json": json.dumps(json.dumps(secret))[3:-3],
        "json, slash escaped": json.dumps(secret)[1:-1].replace("/", "\\/"),
        "json, all escaped": "".join(f"\\u{ord(character):04x}" for character in secret),
        "html": html.escape(secret),
        "percent": quote(secret, safe=""),
        "percent, path": quote(secret),
        "percent, lower": quote(secret, safe="").lower() if secret.islower() else quote(secret, safe=""),
        "percent, twice": quote(quote(secret, safe=""), safe=""),
        "percent, all": "".join(f"%{byte:02X}" for byte in data),
        "form": quote_plus(secret),
        "hex": data.hex(),
        "base64": base64.b64encode(data).decode(),
        "base64, url": base64.urlsafe_b64encode(data).decode(),
        "base64 in a URL": quote(base64.b64encode(data).decode(), safe=""),
    }
    for before in ("u", "us", "use", "user:"):
        found[f"base64 after {before!r}"] = base64.b64encode(before.encode() + data + b"@host").decode()
    return found


def leaks(stored: bytes, secret: str) -> list[str]:
    """Encodings of `secret` that stand in `stored`, whole or as the part that stands for it inside base64."""
    found = [name for name, form in encodings(secret).items() if form.encode() in stored]
    for offset in range(3):
        inside = base64.b64encode(b"\0" * offset + secret.encode()).decode().rstrip("=")[4:-2]
        if inside.encode() in stored:
            found.append(f"base64 at offset {offset}")
    return found


PLANTED = {
    "api-key": [
        "sk-proj-Ab3dE5fGh1jKlMn0pQrStUvWxYz123456",
        "sk-ant-api03-Zx9yW8vU7tS6rQ5pO4nM3lK2jI1hG0-fE",
        "sk-4f3e2d1c0b9a8f7e6d5c4b3a29181716",
        "gsk_" + "a1B2c3D4e5" * 5,
    ],
    "aws": ["AKIAIOSFODNN7EXAMPLE", "ASIAZ2XW4V6U8T0S1R3Q"],
    "github": ["ghp_" + "aB3" * 12, "github_pat_11ABCDEFG0" + "x9Y" * 20],
    "slack": ["xoxb-123456789012-abcdefGHIJKL", "xoxp-999-888-777-abcdef0123"],
    "google": ["AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"],
    "hugging-face": ["hf_" + "AbCdEfGhIj" * 3 + "KlMn"],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
}
IN_CONTEXT = [
    ("Authorization: Bearer abc.DEF-123_456", "abc.DEF-123_456", "bearer"),
    ('{"authorization": "Bearer 0123456789abcdef"}', "0123456789abcdef", "bearer"),
    ('{\\"Authorization\\": \\"Bearer 0123456789abcdef\\"}', "0123456789abcdef", "bearer"),
    ("proxy-authorization: Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy", "basic"),
    ('["Authorization", "Basic dXNlcjpodW50ZXIy"]', "dXNlcjpodW50ZXIy", "basic"),
    ("X-Api-Key: 12345abcdeFGHIJ", "12345abcdeFGHIJ", "api-key"),
    ("https://h.example/v1?api_key=hunter2&q=x", "hunter2", "parameter"),
    ("https://h.example/v1?q=x&token=hunter2", "hunter2", "parameter"),
    ("https://h.example/v1?q=x&amp;password=hunter2#top", "hunter2", "parameter"),
    ('{"url": "https://h.example/v1?q=x\\u0026access_token=hunter2"}', "hunter2", "parameter"),
    ("/login?next=%2Fa%3Ftoken%3Dhunter2%26x%3D1", "hunter2", "parameter"),
    ("https://user:hunter2@h.example/", "hunter2", "password"),
    ("Set-Cookie: sid=hunter2; Path=/; HttpOnly", "hunter2", "cookie"),
    ("Cookie: a=hunter2; b=hunter3", "hunter", "cookie"),
    ('{"set-cookie": "sid=hunter2; Path=/"}', "hunter2", "cookie"),
    ('[["set-cookie", "sid=hunter2; Path=/"], ["date", "today"]]', "hunter2", "cookie"),
    ('{"set-cookie": ["a=hunter2", "b=hunter3; Secure"]}', "hunter", "cookie"),
    ("https://hooks.slack.com/services/T00000000/B00000000/abcdefABCDEF123456", "B00000000", "slack"),
]
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(["MIIEpAIBAAKCAQEA7bq98Rz0aPo1"] * 6)
    + "\n-----END RSA PRIVATE KEY-----"
)

ORDINARY = [
    "https://www.imdb.com/title/tt0088763/?ref_=fn_al_tt_1",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&t=42s",
    "https://example.org/task-oriented-conversational-assistants-in-2023-and-beyond",
    "https://example.org/sk-bratislava-hotels-2023-and-restaurants-list",
    "https://www.example.org/search?q=token+economy&key=12&tokens=5&page_token_count=3",
    "https://web.archive.org/web/20230902/https://www.imdb.com:443/@user",
    "mailto:somebody@example.org and https://medium.com/@somebody/a-title-1a2b3c4d5e6f",
    "5f0e1c52-6b7e-4b3f-9d2c-0a1b2c3d4e5f",
    "d41d8cd98f00b204e9800998ecf8427e",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "evidence/ab/ab34cd56ef7890ab34cd56ef7890ab34cd56ef78.json",
    "tt0088763 M002 R001 nm0000136 UCX6OQ3DkcsbYNE6H8uQQuVA 10.1145/3539618.3591629 978-3-16-148410-0",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    "The Authorization: Basic understanding of bearer tokens is required.",
    "Authorization: Bearer token goes here; use Bearer YOUR_API_KEY or Bearer <token>.",
    "Bearer of bad news; basic instinct; the token of my love, password: none, and a secret garden.",
    "The cookie: a small baked treat. Set-Cookie is a header, Cookie another one.",
    "Here is an API key concept: keys open doors, api-key: required, x-api-key = the header's name.",
    "ASIAPACIFIC CONFERENCES and ASIAPACIFICNETWORKED were in AKIA.",
    "-----BEGIN PRIVATE KEY----- is how such a block begins, and then many words may follow it in prose.",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQsw\n-----END CERTIFICATE-----",
    "eyJ is how a JWT begins; eyJhbGciOiJIUzI1NiJ9 is only its header.",
    "def token(x): return x['password'] if token else secret[0]  # ?x=1",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "xoxo, hugs and kisses; hf_hub; ghp_ is a prefix; glpat- too; sk-learn; risk-adjusted-return-on-capital-2023",
    "10:30:15 https://host.example:8080/path@v1.2.3 user@host:~/folder",
    "東京 – 映画: https://www.imdb.com/ja/title/tt0816692/ (インターステラー) \u2028 \0 \ud83d",
    "[redacted:nothing] [redacted] redacted:",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_unchanged(text: str) -> None:
    redactor = Redactor(CANARIES)
    assert redactor.text(text) == text
    assert redactor.data(text.encode("utf-8", "surrogatepass"), "text/plain") == text.encode("utf-8", "surrogatepass")


@given(st.text(st.sampled_from(string.ascii_letters + string.digits + " .,:;/?=&-_\n\"'()[]{}"), max_size=300))
def test_text_of_letters_and_punctuation_keeps_its_words(text: str) -> None:
    assert len(Redactor(CANARIES).text(text).split()) == len(text.split())


@pytest.mark.parametrize("secret", CANARIES)
def test_known_secrets_are_found_in_every_encoding(secret: str) -> None:
    redactor = Redactor([secret])
    for name, form in encodings(secret).items():
        clean = redactor.text(f"before {form} after")
        assert not leaks(clean.encode(), secret), name
        assert clean.startswith("before ")
        assert clean.endswith(" after")
        assert count_marks(clean) >= 1, name


@pytest.mark.parametrize(("kind", "secret"), [(kind, secret) for kind, found in PLANTED.items() for secret in found])
@pytest.mark.parametrize("around", ["{}", "key={}.", '"{}"', "({})", "use {}, please", "https://h.example/{}/x"])
def test_well_known_secrets_are_found_by_their_shape(kind: str, secret: str, around: str) -> None:
    assert Redactor().text(around.format(secret)) == around.format(f"[redacted:{kind}]")


@pytest.mark.parametrize(("text", "secret", "kind"), IN_CONTEXT)
def test_secrets_are_found_by_their_context(text: str, secret: str, kind: str) -> None:
    clean = Redactor().text(text)
    assert secret not in clean
    assert f"[redacted:{kind}]" in clean
    if text.startswith(("{", "[")) and '\\"' not in text:
        json.loads(clean)


@pytest.mark.parametrize("text", [PEM, json.dumps(PEM)[1:-1], PEM.replace("\n", "\r\n"), PEM[:-40]])
def test_private_keys_are_removed_whole(text: str) -> None:
    clean = Redactor().text(f"a key: {text} and more words")
    assert "MIIEpAIB" not in clean
    assert "[redacted:private-key]" in clean
    assert clean.endswith(" and more words")


@given(
    st.lists(
        st.one_of(
            st.text(max_size=20),
            st.sampled_from([*CANARIES, PEM, *(text for text, _, _ in IN_CONTEXT), *chain(*PLANTED.values())]),
        ),
        max_size=6,
    ).map("".join)
)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    redactor = Redactor(CANARIES)
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(
    st.recursive(st.text() | st.integers() | st.sampled_from(CANARIES), lambda inner: st.dictionaries(st.text(), inner))
)
def test_json_stays_json(value: object) -> None:
    redactor = Redactor(CANARIES)
    text = json.dumps(value)
    assert json.loads(redactor.data(text.encode(), "application/json")) == redactor.value(json.loads(text))


def test_short_secrets_are_left_to_the_patterns() -> None:
    redactor = Redactor(["none", "ollama", ""])
    assert redactor.ignored == 2
    assert redactor.text("ollama has none") == "ollama has none"


def test_a_secret_inside_our_own_marks_does_not_nest() -> None:
    redactor = Redactor(["redacted", "redacted:secret"])
    assert redactor.text("[redacted:secret]") == "[redacted:secret]"


def test_secrets_added_to_the_given_collection_later_are_found_from_then_on() -> None:
    known = {"none", CANARIES[0]}
    redactor = Redactor(known)
    text = f"a token: {CANARIES[2]}"
    assert redactor.leaves_unchanged([text])
    known.add(CANARIES[2])
    assert not redactor.leaves_unchanged([text])
    assert redactor.text(text) == "a token: [redacted:secret]"
    assert redactor.data(text.encode(), "text/plain") == b"a token: [redacted:secret]"
    assert redactor.value({"a": [text]}) == {"a": ["a token: [redacted:secret]"]}
    assert redactor.ignored == 1


def test_texts_are_redacted_in_threads_while_secrets_are_added() -> None:
    known: set[str] = set()
    redactor = Redactor(known)
    text = " ".join(f"word-{number}-Hs7dKf3mQz9x" for number in range(200))

    def add() -> None:
        for number in range(60):
            known.add(f"word-{number}-Hs7dKf3mQz9x")
            assert f"word-{number}-Hs7dKf3mQz9x " not in redactor.text(text)

    with ThreadPoolExecutor(4) as pool:
        searching = [pool.submit(redactor.text, text) for _ in range(40)]
        pool.submit(add).result()
        assert all(one.result().count("word-1") > 0 for one in searching)
    assert redactor.text(text).count("[redacted:secret]") == 60


def test_secrets_may_come_later() -> None:
    redactor = Redactor()
    redactor.add(CANARIES[2])
    assert redactor.text(CANARIES[2]) == "[redacted:secret]"


def test_bytes_that_are_not_text_keep_their_length() -> None:
    secret = CANARIES[2].encode()
    picture = b"\x89PNG\r\n\x1a\n\0\0\0" + secret + b"\0\xff"
    assert Redactor(CANARIES).data(picture, "image/png") == picture.replace(secret, b"*" * len(secret))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_text_keeps_its_encoding(encoding: str) -> None:
    text = f"café {CANARIES[2]} thé"
    clean = Redactor(CANARIES).data(text.encode(encoding), f"text/html; charset={encoding}")
    assert clean.decode(encoding) == "café [redacted:secret] thé"


def test_invalid_bytes_in_a_text_are_kept() -> None:
    data = b"\xff\xfe broken " + CANARIES[2].encode() + b" \xe9"
    assert Redactor(CANARIES).data(data, "text/plain") == b"\xff\xfe broken [redacted:secret] \xe9"


def test_the_first_parameter_of_a_form_is_found() -> None:
    clean = Redactor().data(b"password=hunter2&user=a", "application/x-www-form-urlencoded")
    assert clean == b"password=[redacted:parameter]&user=a"


def plant(run: Path) -> None:
    """A run in which every text a system, a user or an audit can bring along holds every canary in every form."""
    forms = [form for secret in CANARIES for form in encodings(secret).values()]
    everything = " ".join(forms)

    async def write() -> None:
        header = Header(
            audit={"name": everything, everything: [everything]},
            protocol={"say": everything},
            topics=None,
            systems={"B": {"options": {"note": everything}}},
            seed=1,
            hashes={"topics": {"M001": ""}, "systems": {"B": ""}},
            source=everything,
        )
        async with RunWriter.create(run, header, secrets=CANARIES) as writer:
            exhibits = {
                f"exhibit-{i}": await writer.keep(f"exhibit-{i}", media_type, everything.encode())
                for i, media_type in enumerate(["text/plain", "application/json", "application/octet-stream", ""])
            }
            half = len(CANARIES[2]) // 2
            pieces = [f"so {CANARIES[2][:half]}", f"{CANARIES[2][half:]} it is "]  # split over two pieces of a stream
            reply = SystemTurn(
                Answer("".join(pieces) + everything, (Link(everything, f"https://h.example/?x={everything}"),)),
                finish=everything,
                evidence={**exhibits, everything: everything},
            )
            route = Route(1, everything, "o", everything, "1", (Evidence(0, 1, everything, everything),), everything)
            await writer.append(
                TrialStarted("id", TrialKey("B", "M001", 1), 1, session=everything, user=everything),
                Asked("id", 1, 1, everything, everything),
                Failed("id", 1, everything, everything, everything, {everything: everything}, turn=1),
                Answered("id", 1, 1, reply),
                Routed("id", 1, route),
                TrialEnded("id", 1, Outcome("completed", everything, everything)),
                sync=True,
            )

    asyncio.run(write())


def test_canaries_appear_nowhere_in_the_run_folder(tmp_path: Path) -> None:
    plant(tmp_path / "run")
    files = [file for file in (tmp_path / "run").rglob("*") if file.is_file()]
    assert len(files) >= 5
    for file in files:
        for secret in CANARIES:
            assert not leaks(file.read_bytes(), secret), file
    run = read(tmp_path / "run", keep_rows=True)
    assert len(run.finished) == 1
    assert run.header.redaction["secrets"] == 3
    assert run.header.redaction["in_header"] > 50


def test_the_search_itself_finds_canaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Redactor, "value", lambda self, value: value)
    plant(tmp_path / "run")
    stored = b"".join(file.read_bytes() for file in (tmp_path / "run").glob("*.json*"))
    assert all(leaks(stored, secret) for secret in CANARIES)


async def test_the_number_of_redactions_is_recorded_with_the_attempt(tmp_path: Path) -> None:
    header = Header(audit=None, protocol=None, topics=None, systems={}, seed=1, hashes={})
    secret = CANARIES[2]
    async with RunWriter.create(tmp_path / "run", header, secrets=[secret]) as writer:
        page = await writer.keep("page", "text/html", f"<p>{secret} {secret}</p>".encode())
        turn = writer.redacted(SystemTurn(Answer(f"it is {secret}"), evidence={"page": page}))
        assert turn.answer.text == "it is [redacted:secret]"
        for number, reply in ((1, turn), (2, SystemTurn(Answer("nothing")))):
            await writer.append(
                TrialStarted(f"t{number}", TrialKey("B", "M001", number), 1),
                Asked(f"t{number}", 1, 1, "ask", "x"),
                Answered(f"t{number}", 1, 1, reply),
                TrialEnded(f"t{number}", 1, Outcome("completed")),
            )
    run = read(tmp_path / "run", keep_rows=True)
    assert [attempt.rows[-1]["redacted"] for attempt in run.attempts] == [3, 0]


@pytest.mark.parametrize(
    "shape",
    [
        "ZEBRA-quartz-9174-lemon",
        "".join(f"&#{ord(letter)};" for letter in "zebra-Quartz-9174-lemon"),
        "".join(f"&#x{ord(letter):X};" for letter in "zebra-Quartz-9174-lemon"),
        "zebra\x1b[1;31m-Quartz\x1b[0m-9174-lemon",
        "\u200b".join("zebra-Quartz-9174-lemon"),
    ],
)
def test_a_secret_in_disguise_is_found(shape: str) -> None:
    assert Redactor(["zebra-Quartz-9174-lemon"]).text(f"a {shape} b") == "a [redacted:secret] b"


@pytest.mark.parametrize("order", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("media_type", ["text/plain", "application/json", ""])
def test_a_secret_in_utf_16_is_found_in_any_exhibit(order: str, media_type: str) -> None:
    kept = Redactor(["zebra-Quartz-9174-lemon"]).data("a zebra-Quartz-9174-lemon b".encode(order), media_type)
    assert "Quartz" not in kept.decode(order)


def test_a_short_secret_is_found_only_as_it_is_written() -> None:
    assert Redactor(["Password"]).text("a password, a Password") == "a password, a [redacted:secret]"


@pytest.mark.parametrize("cut", ["…", "...", "", '…\'); it begins: "x"'])
@pytest.mark.parametrize("left", [12, 15, 22])
def test_the_rest_of_a_truncated_secret_is_found(left: int, cut: str) -> None:
    secret = "zebra-Quartz-9174-lemon"
    assert Redactor([secret]).text(f"no such key: {secret[:left]}{cut}") == f"no such key: [redacted:secret]{cut}"


@pytest.mark.parametrize("text", ["zebra-Quart…", "zebra-Quartz-9174 is a stone", "zebra-Quartz-9174, …"])
def test_the_beginning_of_a_secret_that_was_not_truncated_there_is_kept(text: str) -> None:
    assert Redactor(["zebra-Quartz-9174-lemon"]).text(text) == text


def test_the_rest_of_a_truncated_secret_is_found_in_each_of_many_texts() -> None:
    secret = "zebra-Quartz-9174-lemon"
    texts = ["one", f"two {secret[:14]}", "three"]
    assert Redactor([secret]).texts(texts) == ["one", "two [redacted:secret]", "three"]
    assert not Redactor([secret]).leaves_unchanged(texts)


def test_the_password_of_a_secret_url_is_a_secret() -> None:
    redactor = Redactor(["http://ada:le%2Fmon-9174-tree@proxy.example:8080"])
    assert redactor.text("as le%2Fmon-9174-tree, le/mon-9174-tree") == "as [redacted:secret], [redacted:secret]"
    coded = base64.b64encode(b"ada:le/mon-9174-tree").decode()
    assert "bGUvbW9u" not in redactor.text(f"Proxy-Authorization: Basic {coded}")


def test_a_secret_in_json_in_json_in_json_is_found_with_any_escapes() -> None:
    secret = CANARIES[1]
    for first, second, third in itertools.product((True, False), repeat=3):
        text = json.dumps(secret, ensure_ascii=first)
        text = json.dumps({"error": text}, ensure_ascii=second)
        text = json.dumps({"message": text}, ensure_ascii=third)
        assert "w0rd" not in Redactor([secret]).text(text)


PIECES = (
    *(
        "sk-Abcd1234Efgh5678Ijkl9012",
        "ghp_",
        "a1B2" * 10,
        "AKIA",
        "ABCD1234EFGH5678",
        "?api_key=",
        "&amp;token=",
        "%26",
    ),
    *(
        "abcDEF123",
        "%3d",
        "\\u0026",
        "\\u006b",
        "Authorization: Bearer ",
        "cookie: a=b; c=d",
        "\\n",
        '\\"',
        "\\/",
        "\\u200b",
    ),
    *("İ", "K", "\0", "\x1b[31m", "&#107;", "\n", " ", "é", "…", "-----BEGIN RSA PRIVATE KEY-----", "eyJ", "api-key: "),
    *("https://u:p@h.org", "hooks.slack.com/services/", "hooks.slack.com\\/services\\/", "xoxb-1234567890123"),
)


@pytest.mark.parametrize("many", [1_000, pytest.param(3_000, marks=pytest.mark.soak)])
def test_a_search_is_skipped_only_if_it_would_find_nothing(many: int) -> None:
    """`text` looks first whether a look is worth while; `pieces` never does."""
    chance, secrets = random.Random(1), (*CANARIES, 'k/ey"with\nodd%chars12', "shortpw1")
    found = 0
    for redactor in (Redactor(), Redactor(secrets)):
        for _ in range(many):
            text = "".join(chance.choices((*PIECES, *secrets), k=chance.randrange(1, 6)))
            if chance.random() < 0.5:
                text = "".join(f"\\{one}" if one in "/\"'" and chance.random() < 0.5 else one for one in text)
            whole = redactor.pieces((text,))[0]
            assert redactor.text(text) == whole
            found += whole != text
    assert found > many // 3


BETWEEN = [
    "\u00a0",
    "\u0301",
    "\u20dd",
    "\x1b[31m",
    "\u3000",
    "\u2003",
    "\x08",
    "\u4e2d",
    "\u0416",
    "\x85",
    "😀",
    "\u200b",
]
CIRCLED = {
    **{ord("A") + at: 0x24B6 + at for at in range(26)},
    **{ord("a") + at: 0x24D0 + at for at in range(26)},
    **{ord("1") + at: 0x2460 + at for at in range(9)},
}
LETTERS = {"circled": CIRCLED, "full width": {code: code + 0xFEE0 for code in range(0x21, 0x7F)}}
KEY = "Zq7Xw9Kp4LmN2vRt8Y"


@pytest.mark.parametrize("form", ["json", "json in json", "stream", "raw"])
@pytest.mark.parametrize("how", [*BETWEEN, *LETTERS], ids=ascii)
def test_a_secret_with_escapes_of_any_character_is_found_in_raw_exhibits(how: str, form: str) -> None:
    shown = KEY.translate(LETTERS[how]) if how in LETTERS else how.join(KEY)
    text = f"The key: {shown} end"
    redactor = Redactor([KEY])
    if form == "stream":
        lines = [json.dumps({"id": "r1", "delta": {"content": letter}}) for letter in text]
        data = "".join(f"data: {line}\n\n" for line in lines).encode()
        kept = redactor.data(data, "text/event-stream").decode()
        found = "".join(json.loads(line[6:])["delta"]["content"] for line in kept.splitlines() if line)
    else:
        value: Any = {"content": text}
        for _ in range(2 if form == "json in json" else 1):
            value = json.dumps(value, ensure_ascii=form != "raw")
        value = redactor.data(value.encode(), "application/json").decode()
        for _ in range(2 if form == "json in json" else 1):
            value = json.loads(value)
        found = value["content"]
    assert found == "The key: [redacted:secret] end"


INVISIBLE_NAMES = ["shy", "zwnj", "zwj", "ZeroWidthSpace", "NoBreak", "nbsp", "ensp", "thinsp", "NewLine", "Tab", "lrm"]
WITH_DIGITS, OF_WORDS, NOT_ASCII = "pass123word456xyz", "correct-horse-battery", "zürich-geheim-wort"


@pytest.mark.parametrize(
    "between",
    [
        *(f"&{name};" for name in INVISIBLE_NAMES),
        *("%0A", "%0D%0A", "%09", "%C2%A0", "%c2%ad", "%E2%80%8B", "%e2%80%8d", "%EF%BB%BF", "%E3%80%80", "%CC%81"),
        *("%25E2%2580%258B", "\x9b31m", "\\u009b1;31m", "\x1b[0K", "\x1b[38:5:1m", "\x1b]8;;http://a.example/?q=1\x07"),
        *("\x1b]8;id=1;http://a.example\x1b\\", "\x9d8;;http://a.example\x9c", "\\u001b]8;;http://a.example\\u0007"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("long", [False, True])
def test_named_entities_bytes_of_urls_and_codes_of_terminals_hide_no_secret(between: str, long: bool) -> None:
    around = "ordinary words and no more " * (400 if long else 1)
    for shape in (f"pass123{between}word456xyz", between.join(WITH_DIGITS)):
        kept = Redactor([WITH_DIGITS]).text(f"{around}x {shape} y")
        assert kept == f"{around}x [redacted:secret] y"


@pytest.mark.parametrize(
    "text", ["z&uuml;rich-geheim-wort", "z&#252;rich-geheim&#45;wort", "z&uuml;r%69ch-geheim-wort"]
)
def test_letters_named_by_html_are_those_of_a_secret(text: str) -> None:
    assert Redactor([NOT_ASCII]).text(f"a {text} b") == "a [redacted:secret] b"


@given(
    st.sampled_from([WITH_DIGITS, NOT_ASCII, "日本語のパスワード秘密鍵", "Ünïcödé-Schlüßel-77"]),
    st.sampled_from(["NFC", "NFD"]),
    st.data(),
)
def test_a_secret_is_found_with_its_accents_in_any_form(
    secret: str, form: Literal["NFC", "NFD"], data: st.DataObject
) -> None:
    """Composed or not, on its side or ours; and with any mark over its letters of ASCII."""
    written = unicodedata.normalize(form, secret)
    known = unicodedata.normalize(data.draw(st.sampled_from(["NFC", "NFD"])), secret)
    assert Redactor([known]).text(f"a {written} b") == "a [redacted:secret] b"
    mark = data.draw(st.sampled_from("\u0300\u0301\u0302\u0307\u0308\u030c\u0323\u0331"))
    marked = "".join(f"{letter}{mark}" if letter.isascii() and letter.isalnum() else letter for letter in secret)
    if secret.isascii():
        assert "[redacted:secret]" in Redactor([secret]).text(f"a {unicodedata.normalize('NFC', marked)} b")


@pytest.mark.parametrize("text", [f"{'ab ' * n}p\u00e4ss\u0175\u00f6rd-geheim-Z\u00fcrich-12" for n in (1, 2000)])
def test_letters_with_accents_are_found_in_short_and_long_texts(text: str) -> None:
    kept = Redactor(["p\u00e4ssw\u00f6rd-geheim-Z\u00fcrich-12"]).text(text)
    assert kept.endswith("[redacted:secret]")
    assert kept.startswith("ab ")


def test_a_secret_is_found_even_if_its_letters_beyond_ascii_were_lost() -> None:
    secret = "p\u00e4ssw\u00f6rd-geheim-Z\u00fcrich-12"
    for said in (secret.encode().decode("latin-1"), secret.encode("ascii", "replace").decode(), repr(secret.encode())):
        assert "geheim" not in Redactor([secret]).text(f"a {said} b")


@pytest.mark.parametrize("secret", ["correct horse battery staple", OF_WORDS, "correct/horse_battery.staple"])
@pytest.mark.parametrize("instead", ["\n", "\r\n", "\n    ", "\\n", "\u200b", "&shy;", "%0A", "\u00ad\n"])
def test_a_line_break_may_replace_the_separators_in_a_secret(secret: str, instead: str) -> None:
    words = re.split(r"\W|_", secret)
    for at in range(1, len(words)):
        first, rest = secret[: secret.index(words[at]) - 1], secret[secret.index(words[at]) :]
        assert Redactor([secret]).text(f"a {first}{instead}{rest} b") == "a [redacted:secret] b"
    assert Redactor([secret]).text(f"a {instead.join(words)} b") == "a [redacted:secret] b"
    text = " ".join(words) + " is another text, as is " + "--".join(words)
    if secret != "correct horse battery staple":
        assert Redactor([secret]).text(text) == text


def _go(text: str) -> str:
    """As encoding/json of Go writes it."""
    return re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _net(text: str) -> str:
    """As System.Text.Json of .NET does."""
    inner = re.sub(r"[<>&'+`\"]|[^\x00-\x7f]", lambda found: f"\\u{ord(found[0]):04X}", text.replace("\\", "\\\\"))
    return f'"{inner}"'


@given(
    st.text(st.sampled_from("abcXYZ19\"\\<>&'+/ü"), min_size=8, max_size=30),
    st.lists(st.sampled_from([_go, _net, json.dumps]), min_size=1, max_size=2),
)
def test_a_secret_is_found_in_json_of_any_language(secret: str, writers: list[Callable[[str], str]]) -> None:
    if sum(map(str.isalpha, secret)) < 4 or re.search(r"\\(?![a-zA-Z0-9/])", secret):
        return  # an escape is undone with all backslashes before it, those of a secret too
    if len(writers) > 1 and set(secret) & set('"\\\\'):
        return  # what the one doubles, the other escapes: among the limits
    text = secret
    for write in writers:
        text = write(text)
    kept = Redactor([secret]).text(f"x {text} y")
    assert "[redacted:secret]" in kept, kept


PEM_LINES = [base64.b64encode(random.Random(number).randbytes(48)).decode() for number in range(5)]
PEM = "\n".join(["-----BEGIN PRIVATE KEY-----", *PEM_LINES, "-----END PRIVATE KEY-----"])
ACCOUNT = json.dumps({"type": "service_account", "project_id": "my-project-2024-films", "private_key": PEM,
                      "token_uri": "https://oauth2.example/token"})  # fmt: skip
PASSWORD = "le-mon-9174-tree"


@pytest.mark.parametrize(
    ("secret", "part"),
    [
        ("Bearer abcdEFGH1234ijklMNOP", "abcdEFGH1234ijklMNOP"),
        ("token abcd1234", "abcd1234"),
        ("Authorization: Bearer abcdEFGH1234ijklMNOP", "abcdEFGH1234ijklMNOP"),
        ("X-Api-Key: abcdEFGH1234", "abcdEFGH1234"),
        ("session=s3cr3tvalue99abc; theme=dark-mode-1", "s3cr3tvalue99abc"),
        ("theme=dark; sid=abcdefgh", "abcdefgh"),
        ("a=1; opaque=0123456789abcdef", "0123456789abcdef"),
        ("Server=db.example;User Id=ada;Password=le mon tree;", "le mon tree"),
        ("client_id=films&client_secret=abc%2Fdefgh", "abc/defgh"),
        ("https://films.example/hook?channel=a&token=abcdefgh1", "abcdefgh1"),
        ("postgresql://ada:le-mon-9174-tree@db.example/films", PASSWORD),
        (base64.b64encode(b"ada:le-mon-9174-tree").decode(), PASSWORD),
        (base64.b64encode(b"ada:le-mon-9174-tree").decode().rstrip("="), "ada:le-mon-9174-tree"),
        ("Basic " + base64.b64encode(b"ada:le-mon-9174-tree").decode(), PASSWORD),
        (base64.b64encode(f"https://ada:{PASSWORD}@proxy.example".encode()).decode(), PASSWORD),
        ('{"host": "db.example", "auth": {"password": "le-mon-9174-tree"}}', PASSWORD),
        *((PEM, line) for line in PEM_LINES),
        (PEM.replace("\n", "\\n"), PEM_LINES[2]),
        (PEM, "".join(PEM_LINES[1:3])),
        (ACCOUNT, PEM_LINES[3]),
        (base64.b64encode(ACCOUNT.encode()).decode(), PEM_LINES[0]),
    ],
)
def test_a_part_of_a_secret_that_recurs_without_the_rest_is_found(secret: str, part: str) -> None:
    redactor = Redactor([secret])
    kept = redactor.text(f"a {part}, b")
    assert re.fullmatch(r"a /?(\[redacted:secret\]){1,2}, b", kept), kept
    assert redactor.text(secret) != secret
    assert part[1:] not in redactor.text(f"{'much more of it ' * 500}{part}")


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("session=s3cr3tvalue99abc; theme=dark-mode; lang=en-US-words", "a dark-mode theme in en-US-words"),
        (ACCOUNT, "my-project-2024-films is a service_account at https://oauth2.example/token"),
        ("https://ada:le-mon-9174-tree@proxy.example:8080", "ada at proxy.example:8080"),
        ("a passphrase of ordinary words", "ordinary words of a passphrase."),
        ("AbcdEfgh1234Ijkl", "Abcd, Efgh and 1234"),
        ("-----BEGIN PRIVATE KEY-----\nshort\n-----END PRIVATE KEY-----", "in short: BEGIN PRIVATE KEY"),
    ],
)
def test_ordinary_parts_of_a_secret_are_kept(secret: str, text: str) -> None:
    assert Redactor([secret]).text(text) == text


@given(st.text(st.sampled_from("ABCxyz0189-_+/="), min_size=8, max_size=60))
def test_a_secret_of_random_characters_has_no_parts_except_the_text_after_an_equals_sign(secret: str) -> None:
    if "=" not in secret.strip("="):
        assert list(parts_of(secret)) == []


OTHER_CODES = {
    "tags": "".join(chr(0xE0000 + ord(one)) for one in KEY),
    "black circles": "".join(chr(0x1F150 + ord(one) - 65) if one.isupper() else one for one in KEY),
    "black squares": "".join(chr(0x1F170 + ord(one.upper()) - 65) if one.isalpha() else one for one in KEY),
    "flags": "".join(chr(0x1F1E6 + ord(one.upper()) - 65) if one.isalpha() else one for one in KEY),
    "chr": "+".join(f"chr({ord(one)})" for one in KEY),
    "CHAR": " & ".join(f"CHAR({ord(one)})" for one in KEY),
    "chr of hex": " . ".join(f"chr(0x{ord(one):02x})" for one in KEY),
    "code points": " ".join(f"U+{ord(one):04X}" for one in KEY),
    "braces": "".join(f"\\u{{{ord(one):x}}}" for one in KEY),
    "eight digits": "".join(f"\\U{ord(one):08x}" for one in KEY),
    "percent u": "".join(f"%u{ord(one):04x}" for one in KEY),
    "hex of UTF-16": KEY.encode("utf-16-le").hex(" "),
    "hex of UTF-16, big end first": KEY.encode("utf-16-be").hex(),
    "base64 of UTF-16": base64.b64encode(f"echo {KEY} end".encode("utf-16-le")).decode(),
    "UTF-7": "+" + base64.b64encode(KEY.encode("utf-16-be")).decode().rstrip("=") + "-",
    "overstruck": "".join(f"{one}\b{one}" for one in KEY),
}


@pytest.mark.parametrize("code", OTHER_CODES)
@pytest.mark.parametrize("before", ["", "ordinary words " * 500])
def test_a_secret_in_other_codes_is_found(code: str, before: str) -> None:
    said = OTHER_CODES[code]
    kept = Redactor([KEY]).text(f"{before}a {said} b")
    assert kept.startswith(f"{before}a ")
    assert "[redacted:secret]" in kept
    assert len(kept) < len(f"{before}a {said} b") - len(said) + len("[redacted:secret]") + 25


def _dump(data: bytes) -> str:
    rows = range(0, len(data), 16)
    return "\n".join(f"{at:08x}  {data[at : at + 16].hex(' ')}  |{data[at : at + 16].decode()}|" for at in rows)


@pytest.mark.parametrize(
    "said", [_dump(f"key={KEY}".encode()), KEY[:5] + "<wbr>" + KEY[5:], KEY[::-1], "%FC".join(KEY)]
)
def test_the_limits_named_on_the_page_apply(said: str) -> None:
    """Who finds one of these takes it off the page."""
    assert Redactor([KEY]).text(said) == said

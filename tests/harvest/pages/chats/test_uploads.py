"""Files on a page in a real browser: given in whatever way the page takes them, awaited, sent once, and told where that
fails. What the page shows of them is no answer."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.browser import BrowserDriver
from harvest.drivers.registry import build_driver
from harvest.pages.browser.process import Browser
from harvest.pages.browser.rotation import BrowserRotation
from harvest.playing.play import aplay
from harvest.systems.driver import Attaching, Denied, DriverError, Opening, Reply, Session, Surroundings, Unanswered
from tests.harvest.drivers.test_sent_files import audit, made
from tests.servers.asking import with_files
from tests.servers.file_pages import Desk, serving_desk
from tests.support.interfaces import TAKING_FILES, interface
from tests.topics.test_sent_files import PNG
from topics.sent_files import SentFile


def png(side: int = 24) -> bytes:
    """A picture that a browser shows."""
    rows = b"".join(b"\0" + bytes(range(side)) for _ in range(side))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


PICTURE = png()
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with serving_desk() as served:
        yield served


@asynccontextmanager
async def talking(browser: Browser, url: str, **site: Any) -> Any:
    """A session with a page, and its end."""
    options = {"url": url, "site": {"quiet": 0.6, **site}, "evidence": (), "timeout": 30.0}
    driver = build_driver("browser", options, Surroundings("page", Path()))
    assert isinstance(driver, BrowserDriver)
    assert driver.capabilities.attaches == ("*/*",)
    driver._relay = BrowserRotation(driver._settings, first=browser)
    session = await driver.open(Opening("page", "M002", 1, 1))
    try:
        yield session
    finally:
        await session.close()


async def sent(session: Session, text: str, *files: SentFile) -> Reply:
    assert isinstance(session, Attaching)
    return await session.attach(text, files)


def told(*files: SentFile) -> list[tuple[str, str, str]]:
    return [(one.name, one.type, one.sha256) for one in files]


@pytest.mark.parametrize(
    ("take", "odd"),
    [
        ("field", ()),
        ("plain", ()),
        ("hidden", ("accept",)),
        ("hidden", ("slow", "off")),
        ("hidden", ("late",)),
        ("hidden", ("mute", "after")),
        ("chooser", ("decoy", "after")),
        ("menu", ()),
        ("drop", ()),
        ("far", ()),
    ],
)
async def test_a_file_goes_with_its_turn_and_with_no_other(
    browser: Browser, desk: Desk, tmp_path: Path, take: str, odd: tuple[str, ...]
) -> None:
    picture = made(tmp_path, "Mühle am See.png", PICTURE)
    before = len(desk.said)
    async with talking(browser, desk.address(take, *odd)) as session:
        replies = [await session.say("hello"), await sent(session, "What is it?", picture), await session.say("Sure?")]
    assert [one.turn.answer.text for one in replies] == [
        "I was sent nothing with it.",
        "I was sent Mühle am See.png with it.",
        "I was sent nothing with it.",
    ]
    assert [one.turn.answer.attachments for one in replies] == [()] * 3
    assert desk.said[before:] == [("hello", []), ("What is it?", told(picture)), ("Sure?", [])]
    assert desk.portraits == 0


async def test_several_files_of_any_type_go_with_a_first_turn(browser: Browser, desk: Desk, tmp_path: Path) -> None:
    files = made(tmp_path, "error.txt", b"a,b\r\n"), made(tmp_path, "b.pdf", b"%PDF"), made(tmp_path, "b.png", PICTURE)
    async with talking(browser, desk.address("hidden")) as session:
        assert (await sent(session, "Read these", *files)).turn.answer.text == (
            "I was sent error.txt, b.pdf, b.png with it."
        )
    assert desk.said[-1] == ("Read these", told(*files))


async def test_the_name_of_a_file_may_be_the_answer(browser: Browser, desk: Desk, tmp_path: Path) -> None:
    async with talking(browser, desk.address("hidden", "after")) as session:
        assert (await sent(session, "Its name?", made(tmp_path, "b.txt"))).turn.answer.text == "b.txt"


async def test_a_site_file_names_the_field_and_the_sign(browser: Browser, desk: Desk, tmp_path: Path) -> None:
    async with talking(browser, desk.address("menu"), attach="[role=menuitem]:last-child", attached=".chip") as session:
        with pytest.raises(Denied, match="cannot-attach"):  # it is shown only once the menu is open
            await sent(session, "What is it?", made(tmp_path, "mill.png", PICTURE))
    async with talking(browser, desk.address("far", "mute"), attach="input[type=file]", attached=".chip") as session:
        assert "mill.png" in (await sent(session, "What is it?", made(tmp_path, "mill.png", PICTURE))).turn.answer.text


@pytest.mark.parametrize(
    ("take", "odd", "files", "kind", "said"),
    [
        ("none", (), ("a.png",), Denied, "cannot-attach: no field, button or place to drop files on took the file"),
        ("none", ("decoy",), ("a.txt",), Denied, r"cannot-attach: the page takes image/\* there, and not a\.txt"),
        ("hidden", ("accept",), ("a.txt",), Denied, r"cannot-attach: the page takes image/\* there, and not a\.txt"),
        ("hidden", ("picky",), ("a.txt",), Unanswered, "upload-failed: .*Only pictures are supported"),
        ("chooser", ("fails",), ("a.png",), Unanswered, "upload-failed: .*500"),
        ("field", ("breaks",), ("a.png",), Unanswered, "upload-failed: the page could not store the file"),
        ("one", (), ("a.png", "b.txt"), Denied, r"cannot-attach: the page takes one file with a turn"),
    ],
)
async def test_a_file_that_the_page_does_not_take_is_no_turn(
    browser: Browser,
    desk: Desk,
    tmp_path: Path,
    take: str,
    odd: tuple[str, ...],
    files: tuple[str, ...],
    kind: type[DriverError],
    said: str,
) -> None:
    before = len(desk.said)
    async with talking(browser, desk.address(take, *odd)) as session:
        with pytest.raises(kind, match=said):
            await sent(session, "What is it?", *(made(tmp_path, name, PICTURE) for name in files))
    assert len(desk.said) == before


@pytest.mark.soak
async def test_fifteen_megabytes_are_given_whole(browser: Browser, desk: Desk, tmp_path: Path) -> None:
    large = made(tmp_path, "large.bin.txt", b"abc" * (5 * 2**20))
    async with talking(browser, desk.address("chooser")) as session:
        await sent(session, "All of it?", large)
    assert desk.said[-1][1][0][2] == hashlib.sha256(b"abc" * (5 * 2**20)).hexdigest()


@pytest.mark.parametrize(
    "name", [TAKING_FILES[0], *(pytest.param(one, marks=pytest.mark.soak) for one in TAKING_FILES[1:])]
)
async def test_interfaces_of_others_take_files_and_answer_to_them(browser: Browser, name: str, tmp_path: Path) -> None:
    files = made(tmp_path, "Mühle am See.png", PICTURE), made(tmp_path, "list.csv", b"a,b\r\n1,2\r\n")
    with interface(name, files=True) as page:
        async with talking(browser, page.url, quiet=None) as session:
            replies = [await session.say("hello"), await sent(session, "What are these?", *files)]
            replies.append(await session.say("and now?"))
        truths = page.truth()
    assert [one.text for one in truths] == [
        "hello",
        with_files("What are these?", [one.read() for one in files]),
        "and now?",
    ]
    assert [one.turn.answer.text for one in replies] == [one.answer for one in truths]
    assert [one.turn.answer.attachments for one in replies] == [()] * 3


async def test_a_run_records_the_files_that_a_page_was_given(desk: Desk, tmp_path: Path) -> None:
    before = len(desk.said)
    options = {"url": desk.address("hidden"), "site": {"quiet": 0.6}, "evidence": ["watch"]}
    run = await aplay(audit(tmp_path, "", driver="browser", options=options, name="page"), tmp_path / "run")
    assert len(run.finished) == 2
    for one in run.finished:
        assert [[(file.name, file.type, file.size) for file in turn.attached] for turn in one.turns] == [
            [("mill.png", "image/png", len(PNG))],
            [],
        ]
        assert one.turns[0].reply is not None
        assert one.turns[0].reply.answer.text == "I was sent mill.png with it."
        assert (tmp_path / "run" / one.turns[0].reply.evidence["sent-1"]).read_bytes() == PNG
    sent = ("What is it?", [("mill.png", "image/png", hashlib.sha256(PNG).hexdigest())])
    assert desk.said[before:] == [sent, ("And what else?", [])] * 2

"""Functions as systems: what may go wrong in somebody else's code, and that it stays theirs."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.python import Options
from harvest.drivers.registry import build_driver, driver_files
from harvest.systems.driver import DriverError, Opening, Reply, Surroundings, Unanswered
from tests.support.stepping import hasten
from topics.errors import InputError

CODE = '''
import asyncio, pathlib, sys, threading, time
from dataclasses import dataclass


@dataclass
class Kept:
    """A dataclass looks its module up while it is made."""
    text: "str"


class Bots:
    @staticmethod
    def inner(text): return "inner " + text

class Callable_:
    async def __call__(self, text): return "called " + text

def raises(text): raise ValueError("no café today")
def stops(text): raise StopIteration("x")
def exits(text): sys.exit("leaving")
def interrupts(text): raise KeyboardInterrupt
def times_out(text): raise TimeoutError("mine")
async def cancels(text): raise asyncio.CancelledError
async def raises_async(text): raise ValueError("async")
def number(text): return 42
def nothing(text): return None
def surrogate(text): return "half \\ud83d"
def pair(text): return "\\ud83e" + "\\udd9c"
async def leaves(text): raise GeneratorExit
async def interrupts_async(text): raise KeyboardInterrupt
async def exits_async(text): sys.exit("leaving")
async def cancels_itself(text):
    asyncio.current_task().cancel()
    await asyncio.sleep(0)
class Unspeakable(Exception):
    def __str__(self): raise KeyboardInterrupt
def raises_unspeakable(text): raise Unspeakable
class Text(str):
    def encode(self, *_): raise RuntimeError("no bytes")
    def __str__(self): raise RuntimeError("no text")
def odd_text(text): return Text("odd " + text)
class Hidden:
    def __repr__(self): raise KeyboardInterrupt
def hidden(text): return Hidden()
HERE = pathlib.Path(__file__).parent
def stay():
    (HERE / "begun").touch()
    while not (HERE / "over").exists(): time.sleep(0.01)
async def blocks(text):
    if text == "block": stay()
    return text
async def swallows(text):
    if text != "block": return text
    (HERE / "begun").touch()
    while not (HERE / "over").exists():
        try: await asyncio.sleep(0.01)
        except asyncio.CancelledError: pass
LOOPS = set()
async def same_loop(text):
    LOOPS.add(id(asyncio.get_running_loop()))
    return str(len(LOOPS))
def prints(text):
    import threading
    print("from the function")
    inner = threading.Thread(target=print, args=("from its thread",))
    inner.start(); inner.join()
    return "fine"
print("from the import")
def stays(text): stay(); return "late"
async def stays_async(text):
    (HERE / "begun").touch()
    await asyncio.sleep(3600)
MEETING = threading.Barrier(40)
def meets(text): MEETING.wait(); return "all here"
def wordy(text): return "é" * 600
def lazy(text): return answer_later(text)
async def answer_later(text): return "later " + text
def spoils(text, history):
    history.append("spoilt")
    return str(len(history))
def no_session(): return "not a function"
def broken_session(): raise RuntimeError("no model file")
called = Callable_()
not_a_function = 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bots.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import no_such_module_anywhere", encoding="utf-8")
    (tmp_path / "opens.py").write_text("open('no-such-model')", encoding="utf-8")
    (tmp_path / "wrong.py").write_text("def f(:", encoding="utf-8")
    return tmp_path


async def _ask(folder: Path, function: str, *turns: str, **options: Any) -> Reply:
    driver = build_driver("python", {"function": function, **options}, Surroundings("bot", folder))
    session = await driver.open(Opening("bot", "M002", 1, 1))
    for text in turns or ("hello",):
        reply = await session.say(text)
    await driver.close()
    return reply


async def _fault(folder: Path, function: str, **options: Any) -> DriverError:
    with pytest.raises(DriverError) as caught:
        await _ask(folder, function, **options)
    return caught.value


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("bots.py:Bots.inner", "inner hello"),
        ("bots.py:called", "called hello"),
        ("bots.py:lazy", "later hello"),
        ("textwrap:dedent", "hello"),
        ("bots.py:odd_text", "odd hello"),
        ("bots.py:surrogate", "half \ud83d"),
        ("bots.py:pair", "🦜"),
    ],
)
async def test_what_can_be_called_answers(folder: Path, function: str, text: str) -> None:
    assert (await _ask(folder, function)).turn.answer.text == text


@pytest.mark.parametrize(
    ("function", "reason", "said"),
    [
        ("raises", "exception", "ValueError: no café today"),
        ("raises_async", "exception", "ValueError: async"),
        ("stops", "exception", "StopIteration"),
        ("exits", "exception", "SystemExit: leaving"),
        ("interrupts", "exception", "KeyboardInterrupt"),
        ("times_out", "exception", "TimeoutError: mine"),
        ("cancels", "exception", "CancelledError"),
        ("number", "bad-type", "int"),
        ("nothing", "bad-type", "NoneType"),
        ("leaves", "exception", "GeneratorExit"),
        ("interrupts_async", "exception", "KeyboardInterrupt"),
        ("exits_async", "exception", "SystemExit: leaving"),
        ("cancels_itself", "exception", "CancelledError"),
        ("raises_unspeakable", "exception", "Unspeakable"),
        ("hidden", "bad-type", "Hidden"),
        ("wordy", "too-large", "1000"),
    ],
)
async def test_what_goes_wrong_is_unanswered(folder: Path, function: str, reason: str, said: str) -> None:
    fault = await _fault(folder, f"bots.py:{function}", max_reply=1000)
    assert (type(fault), fault.reason) == (Unanswered, reason)
    assert said in fault.detail


async def test_the_traceback_is_evidence_and_not_the_message(folder: Path) -> None:
    fault = await _fault(folder, "bots.py:raises")
    assert "Traceback" not in str(fault)
    (trace,) = fault.exhibits
    assert trace.name == "traceback"
    assert b"bots.py" in trace.data
    assert "no café today".encode() in trace.data


async def begun(folder: Path) -> None:
    """Returns once a function is at work that goes on until there is a file `over`."""
    while not (folder / "begun").exists():  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("function", ["stays", "stays_async"])
async def test_a_late_function_is_not_waited_for(folder: Path, function: str) -> None:
    asking = asyncio.ensure_future(_fault(folder, f"bots.py:{function}", timeout=3600))
    await begun(folder)
    hasten(3600)
    assert (await asking).reason == "timeout"
    (folder / "over").touch()
    for thread in threading.enumerate():
        assert thread.daemon or not thread.name.startswith("harvest")


@pytest.mark.parametrize("function", ["blocks", "swallows"])
async def test_an_async_function_that_cannot_be_stopped_holds_up_nothing_of_ours(folder: Path, function: str) -> None:
    driver = build_driver("python", {"function": f"bots.py:{function}", "timeout": 3600}, Surroundings("bot", folder))
    session = await driver.open(Opening("bot", "M002", 1, 1))
    asking = asyncio.ensure_future(session.say("block"))
    await begun(folder)  # in a loop of its own: ours still turns
    hasten(3600)
    with pytest.raises(Unanswered, match="timeout"):
        await asking
    other = await driver.open(Opening("bot", "M002", 2, 1))
    assert (await other.say("next")).turn.answer.text == "next"
    assert not (folder / "over").exists(), "the first is still at work"
    (folder / "over").touch()
    await driver.close()


async def test_async_calls_share_one_loop_so_that_clients_can_be_kept(folder: Path) -> None:
    assert (await _ask(folder, "bots.py:same_loop", "a", "b", "c")).turn.answer.text == "1"


async def test_what_a_function_prints_is_not_among_our_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (await _ask(folder, "bots.py:prints")).turn.answer.text == "fine"
    print("ours")
    shown = capsys.readouterr()
    assert shown.out == "ours\n"
    assert shown.err == "from the import\nfrom the function\nfrom its thread\n"


async def test_many_functions_run_at_once(folder: Path) -> None:
    driver = build_driver("python", {"function": "bots.py:meets"}, Surroundings("bot", folder))
    sessions = [await driver.open(Opening("bot", "M002", trial, 1)) for trial in range(40)]
    replies = await asyncio.gather(*(session.say("hello") for session in sessions))
    assert [reply.turn.answer.text for reply in replies] == ["all here"] * 40
    await driver.close()


async def test_a_function_cannot_spoil_the_history(folder: Path) -> None:
    assert (await _ask(folder, "bots.py:spoils", "a", "b", "c", takes="history")).turn.answer.text == "5"


@pytest.mark.parametrize("greets", [False, True])
@pytest.mark.parametrize(("function", "reason"), [("no_session", "bad-type"), ("broken_session", "exception")])
async def test_a_session_that_cannot_be_made_is_unanswered(
    folder: Path, function: str, reason: str, greets: bool
) -> None:
    fault = await _fault(folder, f"bots.py:{function}", takes="nothing", greets=greets)
    assert (type(fault), fault.reason) == (Unanswered, reason)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("bots.py", "write package.module:function"),
        (":f", "write package.module:function"),
        ("bots.py:a b", "write package.module:function"),
        ("missing.py:f", "there is no file"),
        ("bots.py:nope", r"bots\.py has no function 'nope'"),
        ("bots.py:raise", r"has no function 'raise': did you mean 'raises'\?"),
        ("bots.py:Bots.outer", r"bots\.py has no function 'Bots\.outer'"),
        ("opens.py:f", "importing opens.py fails: FileNotFoundError"),
        ("bots.py:spoils", "takes: history"),
        ("bots.py:no_session", "takes: nothing"),
        ("bots.py:not_a_function", "is int, not a function"),
        ("broken.py:f", "No module named 'no_such_module_anywhere'"),
        ("wrong.py:f", r"SyntaxError: .* in wrong\.py:\d+:\d+"),
        ("no_such_package.bots:f", "No module named 'no_such_package'"),
    ],
)
def test_what_cannot_be_imported_is_refused_before_anything_runs(folder: Path, function: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        build_driver("python", {"function": function}, Surroundings("bot", folder))


def test_a_function_of_a_notebook_cell_is_refused_with_what_to_do(folder: Path) -> None:
    with pytest.raises(InputError, match="what a notebook or a script defines itself"):
        list(driver_files("python", Options.model_validate({"function": "__main__:mine"}), folder))


async def answer_of(folder: Path, bot: str, **files: str) -> str:
    """What a system says whose file is `bot`, with other files beside it; `a__b` is called a/b."""
    (folder / "bot.py").write_text(bot)
    for name, text in files.items():
        path = folder.joinpath(*f"{name}.py".split("__in__"))
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    driver = build_driver("python", {"function": "bot.py:answer"}, Surroundings("bot", folder))
    session = await driver.open(Opening("bot", "T1", 1, 0))
    try:
        return (await session.say("Hello?")).turn.answer.text
    finally:
        await driver.close()


MINE = "NAME = __name__\ndef mark(text): return 'mine: ' + text"


@pytest.mark.parametrize(
    "bot",
    [
        "import scoring\ndef answer(text): return scoring.mark(text)",
        "def answer(text):\n    import scoring\n    return scoring.mark(text)",
        "def answer(text):\n    from scoring import mark\n    return mark(text)",
        "from scoring import *\ndef answer(text): return mark(text)",
        "import scoring as s\ndef answer(text): return s.mark(text)",
        "import judge_helper_of_mine_1 as j\ndef answer(text): return j.mark(text)",
        "async def answer(text):\n    import scoring\n    return scoring.mark(text)",
    ],
)
async def test_a_module_beside_the_file_comes_before_a_package_of_ours(
    bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scoring

    monkeypatch.syspath_prepend(str(tmp_path))  # for what does not have the name of one of ours
    files = {"scoring": MINE, "judge_helper_of_mine_1": "def mark(text): return 'mine: ' + text"}
    assert await answer_of(tmp_path, bot, **files) == "mine: Hello?"
    assert sys.modules["scoring"] is scoring
    assert not hasattr(scoring, "mark")


@pytest.mark.parametrize(
    "bot",
    [
        "import topics.marks\ndef answer(text): return topics.marks.mark(text)",
        "from topics import marks\ndef answer(text): return marks.mark(text)",
        "from topics.marks import mark\ndef answer(text): return mark(text)",
        "import topics\ndef answer(text): return topics.said(text)",
    ],
)
async def test_so_does_a_package_with_all_that_it_imports_itself(bot: str, tmp_path: Path) -> None:
    files = {
        "topics__in____init__": "from .marks import mark\ndef said(text):\n    import scoring\n    return mark(text)",
        "topics__in__marks": "from . import deeper\nfrom scoring import mark as own\ndef mark(text): return own(text)",
        "topics__in__deeper": "import topics.marks, scoring\nassert scoring.NAME != 'scoring'",
        "scoring": MINE,
    }
    assert await answer_of(tmp_path, bot, **files) == "mine: Hello?"


async def test_without_such_a_file_it_gets_ours_and_a_part_that_is_not_there_is_missed(tmp_path: Path) -> None:
    bot = "import scoring, topics\ndef answer(text): return scoring.__name__ + str(hasattr(topics, 'TopicSet'))"
    assert await answer_of(tmp_path, bot) == "scoringTrue"
    bot = "try:\n    import scoring.parts\nexcept ModuleNotFoundError as fault:\n    said = str(fault)\n"
    assert await answer_of(tmp_path, bot + "def answer(text): return said", scoring=MINE) == (
        "No module named 'scoring.parts'"
    )

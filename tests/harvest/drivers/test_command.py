"""Programs as systems: how replies end, how programs end, and that none is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.program_output import OTHER_KEYS, OVERWRITTEN
from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, DriverError, Opening, Surroundings, Unanswered
from protocols.answer import Answer, Exchange
from tests.support.stepping import hasten
from topics.errors import InputError
from topics.links import Link

Built = Callable[..., Driver]

WAIT = "import sys, time, os, signal, json\nline = sys.stdin.readline()\n"


@pytest.fixture
async def built(tmp_path: Path) -> AsyncIterator[Built]:
    drivers: list[Driver] = []

    def build(code: str, **options: Any) -> Driver:
        """A driver of a Python program with this text."""
        script = tmp_path / f"program{len(drivers)}.py"
        script.write_text(code, encoding="utf-8")
        environment = {"PATH": os.environ["PATH"], "SECRET": "s3cret-value", "HOME": str(tmp_path)}
        around = Surroundings("program", tmp_path, environment=environment)
        given = {"argv": (sys.executable, "-u", str(script)), "timeout": 10, "start_timeout": 10}
        drivers.append(build_driver("command", {**given, **options}, around))
        return drivers[-1]

    yield build
    for driver in drivers:
        await driver.close()


def _opening() -> Opening:
    return Opening("program", "M002", 1, 1)


async def _first(driver: Driver, text: str = "hello") -> Any:
    return await (await driver.open(_opening())).say(text)


async def _fault(driver: Driver, text: str = "hello") -> DriverError:
    with pytest.raises(DriverError) as caught:
        await _first(driver, text)
    return caught.value


def _alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be forgotten by its new parent."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


async def _gone(pid: int) -> bool:
    for _ in range(6000):
        if not _alive(pid):
            return True
        await asyncio.sleep(0.01)
    return False


async def test_line_breaks_within_a_turn_are_replaced_and_what_was_sent_is_kept(built: Built) -> None:
    driver = built("print(input())\nprint(input())", line_break=" / ")
    session = await driver.open(_opening())
    reply = await session.say("one\ntwo\r\nthree")
    assert reply.turn.answer.text == "one / two / three"
    assert {exhibit.name: exhibit.data for exhibit in reply.exhibits}["stdin"] == b"one / two / three\n"
    assert (await session.say("four")).turn.answer.text == "four"


async def test_an_end_line_keeps_the_lines_before_it(built: Built) -> None:
    driver = built(
        'print("hi\\nEND")\nfor line in iter(input, "x"): print("a\\n\\n  END\\nb " + line + "\\nEND")',
        end="END",
        greeting=True,
    )
    session = await driver.open(_opening())
    first = await session.say("1")
    assert first.turn.answer.text == "a\n\n  END\nb 1"
    assert {exhibit.name: exhibit.data for exhibit in first.exhibits}["greeting"] == b"hi\n"
    assert first.turn.greeting == "hi"
    assert (await session.say("2")).turn.answer.text == "a\n\n  END\nb 2"


async def test_a_prompt_ends_a_reply_only_at_the_start_of_a_line(built: Built) -> None:
    code = (
        "import sys, time\nwhile True:\n    line = input('you> ')\n"
        "    sys.stdout.write('say you> '); sys.stdout.flush(); time.sleep(0.1)\n"  # the prompt ends what is there
        "    print('now\\n' + line)"
    )
    driver = built(code, prompt="you> ")
    session = await driver.open(_opening())
    for text in ("one", "two"):
        assert (await session.say(text)).turn.answer.text == f"say you> now\n{text}"


@pytest.mark.parametrize("more", ["and a second line", ""])
async def test_output_after_the_reply_is_never_the_reply_to_the_next_turn(built: Built, more: str) -> None:
    driver = built(f'import time\nwhile True: print(input()); time.sleep(0.02); print("{more}")')
    session = await driver.open(_opening())
    await session.say("one")
    await asyncio.sleep(0.2)
    with pytest.raises(Unanswered, match=r"unexpected-output.*`end`"):
        await session.say("two")
    with pytest.raises(Unanswered, match="ended"):
        await session.say("three")


async def test_a_program_that_ends_well_after_its_reply_has_ended_the_conversation(built: Built) -> None:
    driver = built("print('bye ' + input(), end='')")
    session = await driver.open(_opening())
    turn = (await session.say("now")).turn
    assert (turn.answer.text, turn.ended) == ("bye now", True)
    with pytest.raises(Unanswered, match="ended"):
        await session.say("more?")


async def test_output_that_lies_in_the_pipe_when_the_next_turn_is_due_is_seen(built: Built, tmp_path: Path) -> None:
    done = tmp_path / "done"
    code = f"print(input()); import time; time.sleep(0.1); print('more'); open({str(done)!r}, 'w'); print(input())"
    session = await built(code).open(_opening())
    await session.say("one")
    while not done.exists():  # the loop must not turn, or it would read the pipe
        time.sleep(0.01)  # noqa: ASYNC251
    with pytest.raises(Unanswered, match="unexpected-output"):
        await session.say("two")


@pytest.mark.parametrize("mode", ["lines", "json"])
async def test_a_program_that_hangs_up_without_a_word_is_no_reply(built: Built, mode: str) -> None:
    fault = await _fault(built(WAIT, mode=mode))
    assert (type(fault), fault.reason, fault.partial) == (Unanswered, "ended-early", "")


@pytest.mark.parametrize("words", ["", "print()"])
async def test_a_program_for_one_turn_that_ends_well_without_a_word_has_answered_nothing(
    built: Built, words: str
) -> None:
    assert (await _first(built(WAIT + words, mode="once"))).turn.answer.text == ""


async def test_a_program_that_closes_its_output_and_goes_on_is_not_called_killed(built: Built) -> None:
    fault = await _fault(built(WAIT + "os.close(1); time.sleep(3600)"))
    assert (type(fault), fault.reason) == (Unanswered, "output-closed")


@pytest.mark.parametrize("mark", [{"end": "END"}, {"prompt": "> "}])
async def test_a_program_that_ends_before_its_mark_is_no_reply(built: Built, mark: dict[str, Any]) -> None:
    greet = "print('> ', end='', flush=True)\n" if "prompt" in mark else ""
    fault = await _fault(built(greet + WAIT + "print('half a rep', end='')", **mark))
    assert (type(fault), fault.reason, fault.partial) == (Unanswered, "ended-early", "half a rep")


@pytest.mark.parametrize(("mode", "key"), [("json", "text"), ("once", "history")])
async def test_half_a_character_is_kept_and_can_be_said_and_sent_back(built: Built, mode: str, key: str) -> None:
    code = (
        "import sys, json\nfor line in sys.stdin: print(json.dumps({'text': ascii(json.loads(line)['" + key + "'])}))"
    )
    driver = built(code, mode=mode)
    if mode == "json":
        reply = await _first(driver, "half \ud83e")
    else:
        session = await driver.open(Opening("program", "M002", 1, 1, history=(Exchange("x", Answer("half \ud83e")),)))
        reply = await session.say("y")
    assert "half \\\\ud83e" in json.dumps(reply.turn.answer.text).replace("\\\\\\\\", "\\\\")


@pytest.mark.parametrize("mode", ["lines", "json", "once"])
@pytest.mark.parametrize(
    ("ending", "reason"),
    [("sys.exit(3)", "exit-3"), ("os.kill(os.getpid(), signal.SIGKILL)", "signal-9"), ("1 / 0", "exit-1")],
)
async def test_a_program_that_fails_is_unanswered_with_its_last_words(
    built: Built, mode: str, ending: str, reason: str
) -> None:
    code = WAIT + f"sys.stdout.write('half a'); sys.stdout.flush(); sys.stderr.write('I am lost\\n'); {ending}"
    fault = await _fault(built(code, mode=mode))
    assert (type(fault), fault.reason, fault.partial) == (Unanswered, reason, "half a")
    stderr = next(exhibit for exhibit in fault.exhibits if exhibit.name == "stderr")
    assert b"I am lost" in stderr.data


async def test_a_program_that_dies_between_turns_is_unanswered(built: Built) -> None:
    session = await (driver := built("print(input()); import os; os._exit(4)")).open(_opening())
    await session.say("one")
    await asyncio.sleep(0.2)
    with pytest.raises(Unanswered, match="exit-4"):
        await session.say("two")
    await driver.close()


async def test_a_program_that_dies_before_its_greeting_is_unanswered_at_open(built: Built) -> None:
    fault = await _fault(built("import sys; print('no licence'); sys.exit(2)", prompt="> "))
    assert (fault.reason, fault.partial) == ("exit-2", "no licence\n")


async def test_a_greeting_that_is_no_object_is_unanswered_at_open(built: Built) -> None:
    fault = await _fault(built("print('hello', flush=True); input()", mode="json", greeting=True))
    assert (fault.reason, fault.detail[:14]) == ("bad-json", "the greeting: ")
    assert {exhibit.name: exhibit.data for exhibit in fault.exhibits}["greeting"] == b"hello"


async def test_a_program_without_a_greeting_is_late(built: Built) -> None:
    fault = await _fault(built(WAIT, prompt="> ", start_timeout=0.3))
    assert fault.reason == "timeout"
    assert fault.detail.startswith(
        "no complete greeting within 0.3 s; the program was killed. It had written nothing: "
    )


@pytest.mark.parametrize(("mode", "reply"), [("lines", "'Hi'"), ("json", '\'{"text": "Hi"}\'')])
@pytest.mark.parametrize("flushes", [True, False])
async def test_a_program_that_keeps_its_reply_in_a_buffer_is_told_to_flush(
    built: Built, mode: str, reply: str, flushes: bool
) -> None:
    code = (
        "import sys\nout = open(1, 'w', closefd=False)\n"
        f"for line in sys.stdin:\n    print({reply}, file=out, flush={flushes})"
    )
    driver = built(code, mode=mode, timeout=20 if flushes else 1.5)
    session = await driver.open(_opening())
    if flushes:
        assert (await session.say("Hello")).turn.answer.text == "Hi"
    else:
        with pytest.raises(Unanswered, match="so let it flush each reply"):
            await session.say("Hello")
    await session.close()
    await driver.close()


@pytest.mark.parametrize("mode", ["lines", "json", "once"])
async def test_a_late_program_is_killed_with_all_it_started(built: Built, mode: str, tmp_path: Path) -> None:
    code = (
        WAIT + "import subprocess\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        "sys.stdout.write('half'); sys.stdout.flush()\n"
        f"open({str(tmp_path / 'draft')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(tmp_path / 'draft')!r}, {str(tmp_path / 'pids')!r}); time.sleep(3600)"
    )
    asking = asyncio.ensure_future(_fault(built(code, mode=mode, timeout=3600)))
    while not (tmp_path / "pids").exists():  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.01)  # what it wrote is read from its pipe
    hasten(3600)
    fault = await asking
    assert (fault.reason, fault.partial) == ("timeout", "half")
    for pid in (tmp_path / "pids").read_text().split():
        assert await _gone(int(pid))


async def test_closing_ends_a_program_that_ignores_it(built: Built, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"print(input()); open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(3600)"
    )
    driver = built(code)
    session = await driver.open(_opening())
    await session.say("one")
    await session.close()
    assert not _alive(int((tmp_path / "pid").read_text()))


async def test_what_a_program_leaves_running_goes_with_it(built: Built, tmp_path: Path) -> None:
    code = (
        WAIT + "import subprocess\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid)); print('done')"
    )
    assert (await _first(built(code, mode="once"))).turn.answer.text == "done"
    assert await _gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("mode", ["lines", "json", "once"])
async def test_a_reply_without_end_is_too_large_and_bounded(built: Built, mode: str) -> None:
    code = WAIT + "\nwhile True: sys.stdout.write('x' * 65536)"
    fault = await _fault(built(code, mode=mode, max_reply=200_000))
    assert fault.reason == "too-large"
    assert 200_000 <= len(fault.partial) < 2_000_000


async def test_a_chatty_stderr_is_bounded_and_does_not_block(built: Built) -> None:
    code = WAIT + "sys.stderr.write('e' * 5_000_000 + 'the last word'); print('fine')"
    reply = await _first(built(code))
    assert reply.turn.answer.text == "fine"
    session_end = next(exhibit for exhibit in reply.exhibits if exhibit.name == "stderr")
    assert len(session_end.data) <= 64 * 1024


@pytest.mark.parametrize("kept", range(1, 24, 5))
async def test_a_stderr_is_not_cut_within_a_secret(built: Built, kept: int) -> None:
    secret = "kq7-Wv3xZr0pLm82TnYbHs5d"
    code = WAIT + f"sys.stderr.write('{secret} ' + 'e ' * 32000 + 'e' * (1536 - {kept} - 1)); print('fine')"
    reply = await _first(built(code))
    (stderr,) = [exhibit.data.decode() for exhibit in reply.exhibits if exhibit.name == "stderr"]
    assert stderr.endswith("e e" + "e" * (1536 - kept - 2))
    assert stderr.lstrip(" e") == ""


@pytest.mark.parametrize("mode", ["lines", "json", "once"])
async def test_bytes_that_are_not_utf8_are_a_fault_with_the_bytes_kept(built: Built, mode: str) -> None:
    fault = await _fault(built(WAIT + "sys.stdout.buffer.write(b'caf\\xe9\\n')", mode=mode))
    assert (fault.reason, fault.partial) == ("not-utf8", "caf\ufffd" if mode != "once" else "caf\ufffd\n")
    assert any(b"caf\xe9" in exhibit.data for exhibit in fault.exhibits)


async def test_utf8_cut_in_the_middle_of_a_character_is_put_together(built: Built) -> None:
    code = (
        WAIT + "for byte in '東京 ☕\\n'.encode():\n"
        "    sys.stdout.buffer.write(bytes([byte])); sys.stdout.buffer.flush(); time.sleep(0.01)"
    )
    assert (await _first(built(code))).turn.answer.text == "東京 ☕"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("hello", "bad-json"),
        ("[1]", "bad-json"),
        ("", "bad-json"),
        ("{}", "bad-type"),
        ('{"text": 3}', "bad-type"),
        ('{"text": {"a": 1}}', "bad-type"),
        ('{"text": "x", "links": 5}', "bad-json"),
        ('{"text": "x", "links": true}', "bad-json"),
        ('{"text": "x", "links": {"href": "https://example.org"}}', "bad-json"),
        ('{"text": "x", "error": "out of memory"}', "system-error"),
    ],
)
async def test_a_line_that_is_no_reply_is_unanswered(built: Built, line: str, reason: str) -> None:
    fault = await _fault(built(WAIT + f"print({line!r})", mode="json"))
    assert (type(fault), fault.reason) == (Unanswered, reason)


async def test_a_text_is_what_a_terminal_shows_of_it(built: Built) -> None:
    shown = (
        "\\ufeff\\x1b]0;Desk\\x07\\x1b[1;32mOpen\\x1b[0m at\\x1b[K nine.\\r\\nloading 3%\\rloading 99%\\rToday.\\nEND"
    )
    reply = await _first(built(WAIT + f"print('{shown}')", end="END"))
    assert reply.turn.answer.text == "Open at nine.\nToday."
    assert reply.turn.notes == (OVERWRITTEN,)
    assert b"\x1b[1;32m" in {exhibit.name: exhibit.data for exhibit in reply.exhibits}["stdout"]


async def test_addresses_under_keys_that_nothing_reads_are_noted(built: Built) -> None:
    for value, notes in (
        ({"references": ["https://www.example.com/a"]}, (OTHER_KEYS,)),
        ({"references": ["https://www.example.com/a"], "links": ["https://www.example.com/a"]}, ()),
        ({"took": 3, "logo": "https://www.example.com/a"}, ()),
    ):
        reply = await _first(built(WAIT + f"print({json.dumps({'text': 'x', **value})!r})", mode="json"))
        assert reply.turn.notes == notes


async def test_a_line_of_json_may_say_more_than_its_text(built: Built) -> None:
    value = {
        "text": "see\nhttps://example.org/1",
        "links": [{"href": "https://example.org/1"}, {"text": "Two", "href": "https://example.org/2"}, 3],
        "finish": "length",
        "tokens": {"prompt": 3, "completion": "many", "total": -3},
        "ended": True,
    }
    reply = await _first(built(WAIT + f"print({json.dumps(value)!r})", mode="json"))
    assert reply.turn.answer.text == "see\nhttps://example.org/1"
    assert reply.turn.answer.links[1] == Link("Two", "https://example.org/2")
    assert len(reply.turn.answer.links) == 2
    assert (reply.turn.finish, dict(reply.turn.tokens), reply.turn.ended) == ("length", {"prompt": 3}, True)


async def test_in_mode_json_the_user_turn_arrives_as_it_is(built: Built) -> None:
    said = 'a "quoted"\nline\r\nand \u2028 ☕'
    reply = await _first(built(WAIT + "print(json.dumps({'text': json.loads(line)['text']}))", mode="json"), said)
    assert reply.turn.answer.text == said


async def test_in_mode_once_with_input_text_the_turn_stands_alone(built: Built) -> None:
    driver = built("import sys; print(repr(sys.stdin.read()))", mode="once", input="text")
    assert not driver.capabilities.editable_history
    assert (await _first(driver, "two\nlines")).turn.answer.text == r"'two\nlines'"


async def test_a_program_sees_only_the_environment_it_is_given(built: Built) -> None:
    code = WAIT + "print(json.dumps(dict(os.environ)))"
    driver = built(code, env={"MODEL": "m1", "TOKEN": {"env": "SECRET", "prefix": "t-"}})
    seen = json.loads((await _first(driver)).turn.answer.text)
    assert (seen["MODEL"], seen["TOKEN"], seen["LANG"]) == ("m1", "t-s3cret-value", "C.UTF-8")
    assert "SECRET" not in seen


async def test_it_runs_beside_the_audit_and_without_a_shell(built: Built, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text('#!/bin/sh\nread line\ntest -f beside && echo "here|$1|$line"\n')
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / "beside").touch()
    turn = (await _first(built("", argv=("./tool", "$HOME; ls *")), "hi")).turn
    assert turn.answer.text == "here|$HOME; ls *|hi"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no-such-program-here", "no-program"),
        ("./missing", "no-program"),
        ("./plain", "no-program"),
        ("./odd", "cannot-start"),
    ],
)
async def test_a_program_that_is_not_there_is_denied_with_what_to_do(
    built: Built, tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "plain").write_text("not executable")
    (tmp_path / "odd").write_text("neither a script nor a program")
    (tmp_path / "odd").chmod(0o755)
    fault = await _fault(built("", argv=(name,)))
    assert (type(fault), fault.reason) == (Denied, reason)
    assert name.strip("./") in fault.detail


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"argv": ()}, "at least 1"),
        ({"argv": "python3 bot.py"}, "must be a list"),
        ({"mode": "json", "end": "x"}, "are for mode: lines"),
        ({"end": "x", "prompt": "y"}, "cannot both"),
        ({"end": ""}, "not empty"),
        ({"end": "a\nb"}, "one line"),
        ({"prompt": ""}, "must not be empty"),
        ({"greeting": True}, "`greeting` needs"),
        ({"greeting": True, "mode": "once"}, "has no `greeting`"),
        ({"line_break": "\n"}, "must not contain a line break"),
        ({"env": {"A": {"env": "NOT_SET"}}}, "NOT_SET"),
        ({"promt": "x"}, "did you mean 'prompt'"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    around = Surroundings("program", tmp_path, environment={})
    with pytest.raises(InputError, match=said):
        build_driver("command", {"argv": ("x",), **options}, around)

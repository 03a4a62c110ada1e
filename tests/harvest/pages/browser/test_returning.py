"""A user with a log-in who comes back to a chat page: another chat, and the same person."""

from __future__ import annotations

import asyncio
from pathlib import Path

from harvest.pages.browser.login import keep_login
from recordings.log.run_folder import read
from tests.servers.local_http import Asked, response
from tests.support.browsing import pages
from tests.support.forked_commands import ForkedCommand

PERSON = "person-9b1c44e7d2"
CHAT = """<!doctype html><title>Chat</title><body><main role="log"></main>
<form><textarea aria-label="Message"></textarea><button>Send</button></form><script>
const log = document.querySelector("main"), box = document.querySelector("textarea");
const chat = crypto.randomUUID ? crypto.randomUUID() : String(Math.random());
function add(kind, text) {
  const bubble = document.createElement("div");
  bubble.className = kind;
  bubble.textContent = text;
  log.append(bubble);
}
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  const said = box.value;
  box.value = "";
  add("user", said);
  const answer = await fetch("/say", {method: "POST", body: said, headers: {"x-chat": chat}});
  add("bot", await answer.text());
};
</script>"""
PROTOCOL = """\
format: harvest-protocol/1
name: coming-back
version: 1
turn_limit: 9
users:
  friend:
    simulator: probe
    facts: {home: {plant: [I live in Kyoto.], ask: ["Which city do I live in?"], right: [Kyoto], wrong: [Osaka]}}
    steps: [{plant: home}, {ask: home}, {session: new}, {ask: home}]
start: talk
states:
  talk: {user: friend, edges: [{otherwise: true, label: o, go: talk}]}
"""
AUDIT = """\
format: harvest-audit/1
name: coming back
topics: fairweb-45
only: [M001]
protocol: protocol.yaml
trials: 1
systems:
  - name: page
    driver: browser
    options: {url: "URL/chat", login: person.login.json, timeout: 30}
"""


async def test_a_new_chat_is_opened_and_the_page_recognises_the_person(tmp_path: Path) -> None:
    chats: dict[str, int] = {}
    homes: dict[str, str] = {}

    async def talk(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/chat":
            writer.write(response("200 OK", CHAT, media_type="text/html"))
            return
        if asked.path != "/say":  # a browser asks for an icon, too
            writer.write(response("404 Not Found", ""))
            return
        chat, person = asked.headers.get("x-chat", ""), asked.headers.get("cookie", "")
        said = asked.body.decode()
        if said.startswith("I live"):
            homes[person] = "Kyoto"
        writer.write(
            response("200 OK", f"{homes.get(person, 'Osaka')}, after {chats.get(chat, 0)} turns of this chat.")
        )
        chats[chat] = chats.get(chat, 0) + 1

    async with pages({}, talk) as server:
        host = server.url.split("//")[1].split(":")[0]
        cookie = {"name": "person", "value": PERSON, "domain": host, "path": "/", "expires": -1}
        rest = {"httpOnly": False, "secure": False, "sameSite": "Lax"}
        keep_login(tmp_path / "person.login.json", {"cookies": [{**cookie, **rest}], "origins": []})
        (tmp_path / "audit.yaml").write_text(AUDIT.replace("URL", server.url))
        (tmp_path / "protocol.yaml").write_text(PROTOCOL)
        process = ForkedCommand("run", "audit.yaml", "--out", "run", "--json", cwd=tmp_path)
        _, err = await asyncio.to_thread(process.communicate, 120)
    assert process.returncode == 0, err.decode()
    (one,) = read(tmp_path / "run").finished
    assert [turn.reply.answer.text if turn.reply else "" for turn in one.turns] == [
        "Kyoto, after 0 turns of this chat.",
        "Kyoto, after 1 turns of this chat.",
        "Kyoto, after 0 turns of this chat.",
    ]
    assert [bool(turn.session) for turn in one.turns] == [False, False, True]
    assert sorted(chats.values()) == [1, 2]
    assert len(homes) == 1
    assert one.turns[2].session == "page/1/M001/1/2"

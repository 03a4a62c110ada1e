"""What becomes of the options of a recipe, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.http import HttpDriver
from harvest.drivers.recipe import read_recipe
from harvest.drivers.registry import DRIVERS, build_driver, driver_files, options_model, read_exposure, recipe_names
from harvest.drivers.rereading import read_reply, reply_exhibit
from harvest.drivers.template import PLACEHOLDERS
from harvest.systems.driver import Surroundings, Unanswered
from tests.servers.doors import KEY
from topics.document import parse_document
from topics.errors import InputError

CLAUDE = {"model": "claude-9"}


def body_of(name: str, **options: Any) -> Any:
    """The JSON that the driver would send for the turn `Hi`."""
    driver = build_driver(name, options, Surroundings("s", Path(), environment={"ANTHROPIC_API_KEY": KEY}))
    assert isinstance(driver, HttpDriver)
    values = {"text": "Hi", "session": "s", "turn": 1, "history": [], "messages": [{"role": "user", "content": "Hi"}]}
    content = driver.turn.request(dict.fromkeys(PLACEHOLDERS, "") | values).content
    assert content is not None
    return json.loads(content)


def test_an_option_that_is_not_given_is_not_sent() -> None:
    assert body_of("anthropic", **CLAUDE) == {
        "model": "claude-9",
        "max_tokens": 1024,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert "options" not in body_of("ollama", model="m")
    assert body_of("ollama", model="m", temperature=0)["options"] == {"temperature": 0}


def test_a_key_that_comes_in_another_way_can_be_left_out() -> None:
    document = parse_document("{}", "audit.yaml")
    bearer = {"Authorization": {"env": "TOKEN", "prefix": "Bearer "}}
    options = {**CLAUDE, "api_key_env": None, "headers": bearer}
    found = read_exposure("anthropic", options, "A", Path(), document=document, loc=())
    assert found.needed == ("TOKEN",)


def test_credentials_that_renew_replace_the_key() -> None:
    document = parse_document("{}", "audit.yaml")
    keys = {"access_key": {"env": "AWS_ID"}, "secret_key": {"env": "AWS_KEY"}}
    signed = {"sigv4": {"service": "bedrock", "region": "eu-central-1", **keys}}
    options = {"model": "m", "base_url": "https://127.0.0.1:1", "auth": signed}
    found = read_exposure("bedrock", options, "A", Path(), document=document, loc=())
    assert set(found.needed) == {"AWS_ID", "AWS_KEY"}
    both = {"model": "m", "auth": {"client_cert": {"certificate": "me.pem"}}}
    found = read_exposure("anthropic", both, "A", Path(), document=document, loc=())
    assert found.needed == ("ANTHROPIC_API_KEY",)


def test_values_are_sent_unchanged() -> None:
    odd = 'Say "{{ text }}" & {{ nothing }}\n'
    sent = body_of("anthropic", **CLAUDE, system_prompt=odd, extra={"metadata": {"user_id": "{{ session }}"}})
    assert (sent["system"], sent["metadata"]) == (odd, {"user_id": "{{ session }}"})


def test_fields_are_added_within_those_of_the_recipe() -> None:
    assert body_of("ollama", model="m", temperature=1, extra={"options": {"seed": 3}, "keep_alive": "5m"}) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "options": {"temperature": 1, "seed": 3},
        "keep_alive": "5m",
        "stream": False,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("temperature: 1", "1:1: missing key 'model'"),
        ("model: m\nmodle: x", r"2:1: unknown key 'modle': did you mean 'model'\?"),
        ("model: m\nbase_url: https://h.example/v1?lang=1", "2:11: base_url: the address may have neither a query"),
        ("model: m\nextra: {messages: []}", "1:1: 'messages' cannot be given in `extra`: the driver 'anthropic' sends"),
        ("model: m\nmax_tokens: many", "2:13: max_tokens: must be a whole number"),
        ("model: m", "1:1: system 's' needs the environment variable ANTHROPIC_API_KEY"),
    ],
)
def test_a_fault_is_reported_with_its_place(text: str, said: str) -> None:
    document = parse_document(text, "audit.yaml")
    with pytest.raises(InputError, match=rf"^audit\.yaml:{said}"):
        build_driver("anthropic", document.value, Surroundings("s", Path(), environment={}), document=document)  # type: ignore[arg-type]


def test_options_that_a_recipe_does_not_fill_in_keep_their_own_places() -> None:
    document = parse_document('model: m\nheaders: {Authorization: "Bearer x"}', "audit.yaml")
    with pytest.raises(InputError, match=r"^audit\.yaml:2:\d+: headers: header Authorization carries a secret"):
        build_driver("anthropic", document.value, Surroundings("s", Path()), document=document)  # type: ignore[arg-type]


def test_an_unknown_driver_is_answered_with_recipes_too() -> None:
    with pytest.raises(InputError, match="there is no driver 'antropic': did you mean 'anthropic'"):
        options_model("antropic")


def test_no_recipe_has_the_name_of_a_driver_or_an_option_that_http_fills_in() -> None:
    assert not set(recipe_names()) & set(DRIVERS)
    for name in recipe_names():
        assert not set(read_recipe(name).options) & set(PLACEHOLDERS)


def test_contacts_and_variables_of_a_recipe_are_declared() -> None:
    document = parse_document("{}", "audit.yaml")
    found = read_exposure("anthropic", CLAUDE, "A", Path(), document=document, loc=())
    assert (found.origins, found.needed) == (("https://api.anthropic.com",), ("ANTHROPIC_API_KEY",))
    assert found.plug_in == ""
    named = {**CLAUDE, "api_key_env": "OTHER", "base_url": "http://127.0.0.1:1/x/"}
    found = read_exposure("anthropic", named, "A", Path(), document=document, loc=())
    assert (found.targets[-1], found.needed) == ("http://127.0.0.1:1/x/messages", ("OTHER",))


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_declares_its_server_and_its_key(name: str) -> None:
    recipe, document = read_recipe(name), parse_document("{}", "audit.yaml")
    given = {key: option.sample for key, option in recipe.options.items() if option.is_essential}
    given["base_url"] = "https://h.example/x"
    found = read_exposure(name, given, "A", Path(), document=document, loc=())
    assert found.origins == ("https://h.example",)
    keys = {option.default for option in recipe.options.values() if option.type == "variable" and option.default}
    assert set(found.needed) == keys


def test_the_file_of_a_recipe_belongs_to_a_system() -> None:
    recipe = read_recipe("anthropic")
    options = recipe.Options.model_validate(CLAUDE)
    assert list(driver_files("anthropic", options, Path())) == [("recipe", recipe.path)]


def test_a_stored_reply_is_read_again() -> None:
    kept = b'{"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}]}'
    head = b'{"status": 200, "headers": [["content-type", "application/json"]]}'
    answer = read_reply("anthropic", CLAUDE, kept, head)
    assert (answer.text, answer.thoughts) == ("Yes.", "hm")
    assert reply_exhibit("anthropic", {"response": "a", "headers": "b"}) == "response"
    answer = read_reply("perplexity", {"model": "m"}, b'{"choices": [{"message": {"content": "Yes."}}]}', head)
    assert answer.text == "Yes."


def test_a_graph_that_ends_with_the_users_message_has_not_answered() -> None:
    head = b'{"status": 200, "headers": [["content-type", "application/json"]]}'
    with pytest.raises(Unanswered, match="system-error"):
        read_reply("langgraph", {"assistant": "a"}, b'{"messages": [{"type": "human", "content": "Hi"}]}', head)

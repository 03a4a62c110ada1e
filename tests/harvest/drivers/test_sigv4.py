"""Signatures for AWS are those of AWS's own library, and moto, a server nobody here wrote, accepts them."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from harvest.drivers.registry import build_driver
from harvest.drivers.sigv4 import AwsKeys, sign
from harvest.systems.driver import Denied, Driver, Opening, Surroundings
from tests.servers.environment import python_environment
from tests.servers.local_http import Asked, response, serving
from tests.support.checkout import TESTS
from tests.support.object_store import moto_server, post


def test_a_signature_is_that_of_the_guide() -> None:
    """AWS, Signature Version 4 test suite, `get-vanilla-query-order-key-case`."""
    keys = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    url = "https://example.amazonaws.com/?Param2=value2&Param1=value1"
    moment = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
    found = sign(keys, "service", "us-east-1", moment, "GET", url, {}, b"")
    assert found == {
        "X-Amz-Date": "20150830T123600Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date, "
        "Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    }


LETTERS = "abcXYZ019-_.~ %/:+*()é東;=&,@!$'"


def requests(count: int) -> Iterator[dict[str, str]]:
    """Requests as a driver sends them: escaped once in their paths and queries, with and without session tokens."""
    draw = random.Random(20380501)

    def word() -> str:
        return "".join(draw.choices(LETTERS, k=draw.randint(1, 9)))

    for number in range(count):
        parts = [draw.choice(("", ".", "..", word(), word(), word())) for _ in range(draw.randint(0, 5))]
        path = "/".join(quote(part, safe="") for part in parts) + draw.choice(("", "/"))
        pairs = [(quote(word(), safe=""), quote(word(), safe="")) for _ in range(draw.randint(0, 4))]
        query = "&".join(f"{name}={value}" for name, value in (*pairs, *pairs[:1]))
        headers = {
            "Content-Type": draw.choice(("application/json", "text/plain;  charset=utf-8")),
            "X-Amz-Target": " ".join((word().strip() or "x").encode("ascii", "ignore").decode().split()) or "x",
        }
        yield {
            "method": draw.choice(("GET", "POST", "PUT", "DELETE")),
            "url": f"https://{draw.choice(('a.example', 'lex.eu-west-1.amazonaws.com:8443'))}/{path}"
            + (f"?{query}" if query else ""),
            "headers": json.dumps(dict(draw.sample(sorted(headers.items()), draw.randint(0, 2)))),
            "content": draw.choice(("", word(), json.dumps({"text": word()}))),
            "now": datetime.fromtimestamp(draw.randint(10**9, 4 * 10**9), UTC).isoformat(),
            "access_key": f"AKIA{number}",
            "secret_key": word() + "k",
            "session_token": draw.choice(("", f"token/{number}+=")),
            "service": draw.choice(("bedrock", "lex", "execute-api", "sagemaker")),
            "region": draw.choice(("us-east-1", "eu-central-1")),
        }


def signed_by_botocore(asked: list[dict[str, str]]) -> list[dict[str, str]]:
    """The headers of these requests."""
    done = subprocess.run(
        [str(python_environment("moto") / "bin" / "python"), str(TESTS / "servers" / "botocore_oracle.py")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found


def test_200_signatures_are_those_of_botocore() -> None:
    asked = list(requests(200))
    expected = signed_by_botocore(asked)
    for one, theirs in zip(asked, expected, strict=True):
        keys = AwsKeys(one["access_key"], one["secret_key"], one["session_token"])
        now, headers = datetime.fromisoformat(one["now"]), json.loads(one["headers"])
        content = one["content"].encode()
        ours = sign(keys, one["service"], one["region"], now, one["method"], one["url"], headers, content)
        assert {**headers, **ours} == theirs, one


async def test_a_recipe_for_aws_signs_what_it_sends(tmp_path: Path) -> None:
    async def converse(asked: Asked, writer: asyncio.StreamWriter) -> None:
        content = [{"text": f"You said {asked.json['messages'][-1]['content'][0]['text']}"}]
        writer.write(response("200 OK", json.dumps({"output": {"message": {"content": content}}})))

    environment = {"ID": "AKIDEXAMPLE", "KEY": "wJalrXUtnFEMI/K7MDENG", "TOKEN": "a/session+token="}
    keys = {"access_key": {"env": "ID"}, "secret_key": {"env": "KEY"}, "session_token": {"env": "TOKEN"}}
    async with serving(converse) as server:
        auth = {"sigv4": {"service": "bedrock", "region": "eu-central-1", **keys}}
        options = {"base_url": server.url, "model": "arn:aws:bedrock:eu/amazon.nova-lite-v1:0", "auth": auth}
        driver = build_driver("bedrock", options, Surroundings("aws", tmp_path, environment=environment))
        session = await driver.open(Opening("aws", "M001", 1, 1))
        assert (await session.say("Films? é")).turn.answer.text == "You said Films? é"
        await driver.close()
        (asked,) = server.asked
    sent = asked.headers
    request = {
        "method": "POST",
        "url": server.url + asked.target,
        "headers": json.dumps({"Content-Type": sent["content-type"]}),
        "content": asked.body.decode(),
        "now": datetime.strptime(sent["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat(),
        "access_key": environment["ID"],
        "secret_key": environment["KEY"],
        "session_token": environment["TOKEN"],
        "service": "bedrock",
        "region": "eu-central-1",
    }
    (expected,) = await asyncio.to_thread(signed_by_botocore, [request])
    assert sent["authorization"] == expected["Authorization"]
    assert sent["x-amz-security-token"] == environment["TOKEN"]


# moto -----------------------------------------------------------------------------------------------------------

IAM, STS = "2010-05-08", "2011-06-15"
NOBODY = AwsKeys("AKIANOBODY", "nothing")


@dataclass
class Moto:
    """A server that refuses what is not signed by a key of its users; ada has `keys`."""

    url: str
    keys: AwsKeys


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with moto_server() as url:
        keys = _new_user(url, NOBODY, "ada")
        post(f"{url}/moto-api/reset-auth", b"0", **{"Content-Type": "text/plain"})  # from now on all must be signed
        yield Moto(url, keys)


def _act(url: str, keys: AwsKeys, service: str, **form: str) -> str:
    headers, content = {"Content-Type": "application/x-www-form-urlencoded"}, urlencode(form).encode()
    signed = sign(keys, service, "us-east-1", datetime.now(UTC), "POST", f"{url}/", headers, content)
    return post(f"{url}/", content, **headers, **signed)


def _new_user(url: str, by: AwsKeys, name: str) -> AwsKeys:
    """The first key of a user who may do everything."""
    _act(url, by, "iam", Action="CreateUser", UserName=name, Version=IAM)
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    given = {"PolicyName": "all", "PolicyDocument": json.dumps(policy), "Version": IAM}
    _act(url, by, "iam", Action="PutUserPolicy", UserName=name, **given)
    return _new_key(url, by, name)


def _new_key(url: str, by: AwsKeys, name: str) -> AwsKeys:
    said = _act(url, by, "iam", Action="CreateAccessKey", UserName=name, Version=IAM)
    return AwsKeys(*(re.findall(f"<{part}>(.*?)<", said)[0] for part in ("AccessKeyId", "SecretAccessKey")))


def build(url: str, folder: Path, environment: dict[str, str] = {}, **auth: Any) -> Driver:  # noqa: B006
    """A driver whose answers name the text that was sent: the name of a session in a role."""
    form = {"Action": "AssumeRole", "RoleArn": "arn:aws:iam::123456789012:role/desk", "Version": STS}
    given = {"service": "sts", "region": "us-east-1", **auth}
    options = {"url": f"{url}/", "form": {**form, "RoleSessionName": "{{ text }}"}, "reply": "text"}
    around = Surroundings("aws", folder, environment=environment)
    return build_driver("http", {**options, "auth": {"sigv4": given}}, around)


async def say(driver: Driver, *texts: str) -> None:
    session = await driver.open(Opening("aws", "M001", 1, 1))
    for text in texts:
        reply = await session.say(text)
        assert f"assumed-role/desk/{text}</Arn>" in reply.turn.answer.text


def turns(name: str) -> list[str]:
    return [f"{name}-turn-{number}" for number in range(10)]


async def test_ten_turns_of_two_sessions_are_signed(moto: Moto, tmp_path: Path) -> None:
    environment = {"ID": moto.keys.access_key, "KEY": moto.keys.secret_key}
    driver = build(moto.url, tmp_path, environment, access_key={"env": "ID"}, secret_key={"env": "KEY"})
    await asyncio.gather(say(driver, *turns("one")), say(driver, *turns("two")))
    await driver.close()


async def test_a_key_withdrawn_in_the_middle_is_replaced_by_the_program(moto: Moto, tmp_path: Path) -> None:
    first = _new_user(moto.url, moto.keys, "bob")
    second = _new_key(moto.url, moto.keys, "bob")
    path = tmp_path / "keys.json"

    def issue(keys: AwsKeys) -> None:
        path.write_text(json.dumps({"Version": 1, "AccessKeyId": keys.access_key, "SecretAccessKey": keys.secret_key}))

    issue(first)
    command = {"argv": (sys.executable, "-c", "print(open('keys.json').read())")}
    driver = build(moto.url, tmp_path, command=command)
    await asyncio.gather(say(driver, *turns("one")[:5]), say(driver, *turns("two")[:5]))
    given = {"UserName": "bob", "AccessKeyId": first.access_key, "Version": IAM}
    await asyncio.to_thread(lambda: _act(moto.url, moto.keys, "iam", Action="DeleteAccessKey", **given))
    issue(second)
    await asyncio.gather(say(driver, *turns("one")[5:]), say(driver, *turns("two")[5:]))
    await driver.close()


async def test_a_wrong_key_is_denied(moto: Moto, tmp_path: Path) -> None:
    environment = {"ID": moto.keys.access_key, "KEY": "wrong-4d1e"}
    driver = build(moto.url, tmp_path, environment, access_key={"env": "ID"}, secret_key={"env": "KEY"})
    with pytest.raises(Denied, match="SignatureDoesNotMatch") as caught:
        await say(driver, "one")
    assert caught.value.reason == "http-403"
    await driver.close()

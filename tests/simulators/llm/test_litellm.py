"""The endpoint that words a user's turns against LiteLLM's proxy, a server nobody here wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harvest.systems.driver import Surroundings
from harvest.voices.endpoint import Endpoint, EndpointError, EndpointOptions
from simulators.outside import Message, Prompt, Sample
from tests.servers.litellm_proxy import KEY, TEXT

PROMPT = Prompt("words", "ask", (Message("system", "Be a person."), Message("user", "Begin.")), ("u", 1), 77)


async def sampled(address: str, **options: Any) -> Sample:
    given = {"base_url": f"{address}/v1", "model": "mock", "api_key_env": "KEY", "retries": 0, **options}
    around = Surroundings("", Path(), environment={"KEY": options.pop("key", KEY)})
    endpoint = Endpoint("words", EndpointOptions.model_validate({k: v for k, v in given.items() if k != "key"}), around)
    try:
        return await endpoint.sample(PROMPT)
    finally:
        await endpoint.close()


async def test_words_arrive_unchanged(litellm: str) -> None:
    assert await sampled(litellm) == Sample(TEXT, "stop")


async def test_an_answer_without_words_is_a_sample_without_words(litellm: str) -> None:
    assert (await sampled(litellm, model="empty")).text.strip() == ""


@pytest.mark.parametrize("options", [{"model": "busy"}, {"model": "broken"}, {"model": "none"}, {"key": "sk-wrong"}])
async def test_a_request_that_the_proxy_refuses_is_a_failure_of_the_endpoint(
    litellm: str, options: dict[str, Any]
) -> None:
    with pytest.raises(EndpointError) as caught:
        await sampled(litellm, **options)
    assert caught.value.reason == "endpoint-failed"

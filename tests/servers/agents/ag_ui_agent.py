"""An agent of Pydantic AI behind its own server of AG-UI; no model is asked."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models.function import DeltaThinkingPart, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route


async def answer(messages: list[Any], info: object) -> AsyncIterator[Any]:
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    said = [part.content for part in parts if isinstance(part, UserPromptPart)]
    if said[-1] == "down":
        raise RuntimeError("the mill is shut")
    if said[-1] == "think":
        yield {0: DeltaThinkingPart(content="Noon is wrong.")}
    for piece in (f"Turn {len(said)}: ", f"you said {said[-1]}"):
        yield piece


async def run(request: Request) -> Any:
    return await AGUIAdapter.dispatch_request(request, agent=Agent(FunctionModel(stream_function=answer)))


def main(port: int) -> None:
    app = Starlette(routes=[Route("/", run, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


main(int(sys.argv[1]))

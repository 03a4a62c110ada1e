"""An agent on the server of a2a-sdk: a task, a message alone if the user says `message`, a question for `ask`."""

from __future__ import annotations

import sys
from collections import Counter

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


class Mill(AgentExecutor):  # type: ignore[misc]  # the package is in an environment of its own
    def __init__(self) -> None:
        self.turns: Counter[str] = Counter()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        self.turns[context.context_id] += 1
        said = f"Turn {self.turns[context.context_id]}: you said {text}"
        if text == "message":
            await event_queue.enqueue_event(new_text_message(said, context_id=context.context_id))
            return
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if text == "ask":
            await updater.requires_input(message=updater.new_agent_message([new_text_part(said)]))
        elif text == "down":
            await updater.failed()
        else:
            await updater.add_artifact([new_text_part(said)])
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def main(port: int) -> None:
    url = f"http://127.0.0.1:{port}/"
    card = AgentCard(
        name="mill",
        description="Knows when mills are open.",
        version="1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="mills", name="mills", description="mills", tags=["mills"])],
    )
    handler = DefaultRequestHandler(agent_executor=Mill(), task_store=InMemoryTaskStore(), agent_card=card)
    app = Starlette(
        routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)]
    )
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


main(int(sys.argv[1]))

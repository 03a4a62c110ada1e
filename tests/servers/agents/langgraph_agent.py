"""A graph for LangGraph's development server, which is started with `langgraph dev`."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph


def answer(state: MessagesState) -> dict[str, list[AIMessage]]:
    said = [message.content for message in state["messages"] if message.type == "human"]
    if said[-1] == "down":
        raise KeyError("mill")
    message = AIMessage(
        f"Turn {len(said)}: you said {said[-1]}",
        response_metadata={"finish_reason": "stop", "model_name": "m9"},
        usage_metadata={"input_tokens": len(said), "output_tokens": 5, "total_tokens": len(said) + 5},
    )
    return {"messages": [message]}


graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").add_edge("answer", END).compile()

"""Descriptions of web chats: where to type, which elements are replies, and which elements block the chat."""

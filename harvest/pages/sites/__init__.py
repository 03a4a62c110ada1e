"""Descriptions of web chats: where to type, which elements are replies, which block the chat."""

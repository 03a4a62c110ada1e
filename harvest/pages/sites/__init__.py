"""Descriptions of web chats: where one types, what is a reply, what stands in the way."""

"""Conversations on a live page: opening it, typing, waiting and reading, as well as probing a page and reading it
again."""

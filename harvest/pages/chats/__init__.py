"""Conversations on a live page: open the page, type, wait and read, probe a page, and read a recorded page again."""

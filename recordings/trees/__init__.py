"""Conversation trees: repeated trials folded together where their turns are the same by a declared key."""

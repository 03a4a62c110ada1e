"""Conversation trees: repeated trials share one branch as long as a declared key says that their turns are equal."""

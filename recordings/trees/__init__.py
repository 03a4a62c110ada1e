"""Conversation trees: repeated trials merged into one branch as long as a declared key says that their turns are
equal."""

"""Conversation trees: repeated trials folded together while their turns are equal by a declared key."""

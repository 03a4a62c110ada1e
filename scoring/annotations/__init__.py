"""Dialogues that many people annotated: their files, predictions of what the people said, and what these are worth."""

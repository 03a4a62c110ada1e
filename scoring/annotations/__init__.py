"""Dialogues with annotations by many people: their files, predictions of the annotations, and scores of these."""

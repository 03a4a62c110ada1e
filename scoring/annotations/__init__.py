"""Dialogues annotated by many people: their files, predictions of the annotations, and scores of the predictions."""

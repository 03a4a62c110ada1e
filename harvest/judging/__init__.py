"""Judging: extraction of nuggets by models, models as judges, and sheets for people."""

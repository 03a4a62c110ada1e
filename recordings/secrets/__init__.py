"""Secrets, found and redacted."""

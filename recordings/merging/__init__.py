"""Runs put together."""

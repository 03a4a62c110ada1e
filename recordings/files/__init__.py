"""Durable files of recordings: locks, digests, evidence, JSON text, times, and errors."""

"""Durable files: locks, digests, evidence, JSON text, times, errors."""

"""Find and redact secrets."""

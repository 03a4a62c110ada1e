"""Commands with which people and models judge answers."""

"""Pages that this machine alone can open: their server, and the guard before it."""

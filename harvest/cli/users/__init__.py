"""Commands for users: played by a person, fitted to recordings, and compared with people."""

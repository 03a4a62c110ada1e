"""The browser: its windows, what can be done in them, and the eye that sees what a person would."""

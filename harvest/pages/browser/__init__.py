"""The browser: its windows, actions in them, and the eye, which sees a page as a person would."""

"""The browser: its windows, the actions in them, and the script (the eye) that records what a person sees on a page."""

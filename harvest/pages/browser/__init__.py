"""The browser: its windows, the actions in them, and the script (the eye) that records a page as a person sees it."""

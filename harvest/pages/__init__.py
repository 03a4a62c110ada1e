"""Chat pages on the web: find the chat on a page, send turns, await the answers, and read them as a person would."""

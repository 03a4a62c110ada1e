"""Chat pages on the web: finding the chat in a page, sending turns, awaiting the answers and reading them as a person
would."""

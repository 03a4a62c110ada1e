"""Sources of answers: which are cited, how concentrated and how similar they are, and which are new."""

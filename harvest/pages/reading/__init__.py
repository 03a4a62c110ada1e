"""Reading of recorded pages: the tree, the turn that was just played, and its answer as Markdown. Needs no browser."""

"""Reading of recorded pages: the tree, the last turn, and its answer as Markdown. Needs no browser."""

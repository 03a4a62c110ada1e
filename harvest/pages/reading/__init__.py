"""What a page says: the tree of it, the turn that was just played, and its answer as Markdown. Needs no browser."""

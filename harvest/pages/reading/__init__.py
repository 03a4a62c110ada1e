"""Reading of recorded pages: the tree of elements, the last turn, and its answer as Markdown. No browser is needed."""

"""Finding the parts of a page that nobody has described: the box to type in, the buttons, and obstacles."""

"""Finding the parts of a page without a description: the box to type in, the buttons, and obstacles."""

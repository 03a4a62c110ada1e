"""Finding the parts of a page without a description of it: the box to type in, the buttons, and obstacles."""

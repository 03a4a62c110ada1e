"""Where things are on a page nobody has described: what to type in and press, and what stands in the way."""

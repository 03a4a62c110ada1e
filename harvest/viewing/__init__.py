"""A local web page on the runs in a folder: what is being played, what was found, and every conversation."""

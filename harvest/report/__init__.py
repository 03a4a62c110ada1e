"""One HTML page about recorded runs, to be opened by a double click: what is in it, and how it is written."""

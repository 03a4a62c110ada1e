"""The content of the HTML page about recorded runs, and the functions that write the page."""

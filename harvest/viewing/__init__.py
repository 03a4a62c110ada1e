"""A local web page on the runs in a folder: runs in progress, results, and every conversation."""

"""A local web page on which several people judge a run, one decision at a time."""

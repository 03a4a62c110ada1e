"""A local page on which several people judge a run, one decision a screen."""

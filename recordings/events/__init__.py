"""Events of a run, as lines and as attempts."""

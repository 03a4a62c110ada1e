"""The events of a run, as lines of files and as attempts."""

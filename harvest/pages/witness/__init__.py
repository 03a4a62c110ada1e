"""The second witness: a check of the page's answer against the content received while it was shown."""

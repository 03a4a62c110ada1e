"""The second witness: a check of the page's answer against what came over the wire while it was shown."""

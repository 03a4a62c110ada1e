"""Playing an audit: the plan of the remaining trials, one attempt after the other, and the progress display."""

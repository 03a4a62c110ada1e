"""Playing an audit: the plan of the remaining trials, the attempts at each trial, and the progress display."""

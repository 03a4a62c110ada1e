"""Playing an audit: the plan of what is left, one attempt after the other, and progress."""

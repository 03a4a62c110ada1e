"""Playing an audit: what is left to play, one attempt after the other, and how far it got."""

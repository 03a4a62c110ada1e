"""Arms of one system: wordings, users and factors, and what depends on them."""

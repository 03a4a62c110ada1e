"""Arms of one system (wordings, users and factors) and their effects."""

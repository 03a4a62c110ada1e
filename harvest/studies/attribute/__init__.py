"""Attribution of a change in scores to the system, the users, the rules, the page reader or the topics."""

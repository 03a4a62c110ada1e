"""Plans for studies: the numbers of topics and trials that a difference, a tail or a tree branch needs."""

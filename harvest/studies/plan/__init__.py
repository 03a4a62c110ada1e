"""How many topics and trials a study needs: by power, tails, branches of a tree, and budget."""

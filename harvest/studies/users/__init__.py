"""Users learnt from people, populations of users, and counterfactual users."""

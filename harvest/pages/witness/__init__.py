"""The second witness: what came over the wire while an answer was shown, and whether it says what the page says."""

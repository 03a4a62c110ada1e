"""Voices: where the words of a user come from that no policy can make, the keyboard among them."""

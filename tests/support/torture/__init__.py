"""Worlds with known truths in which every interval and verdict of the program is tried, and the count of what it says.

A *world* is one function that makes a study (values of systems on topics in trials) of a wanted size. A new one is
added by one function under `@world`; the modules of worlds are listed in `catalogue`."""

"""For each estimand one formula, written slowly and plainly from the paper it comes from; no code of the program.

They suit small data: loops, enumeration, bisection, exact fractions. Distribution functions are SciPy's."""

"""The measures, a file each: what a figure is, its source, its range, and its value where nothing can be measured."""

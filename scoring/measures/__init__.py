"""The measures, one file each: definition, source, range, and value if nothing can be measured."""

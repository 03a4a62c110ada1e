"""The measures, one file each, with definition, source, range, and the value if nothing can be measured."""

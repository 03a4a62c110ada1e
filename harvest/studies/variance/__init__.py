"""Components of variance over topics and trials: estimation, tables, rows and a chart."""

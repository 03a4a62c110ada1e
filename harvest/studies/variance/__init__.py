"""Components of variance over topics and trials: computation, rows and chart."""

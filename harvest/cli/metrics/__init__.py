"""Commands that compute the metrics of evaluation campaigns from their own file formats."""

"""Tables, rows and charts of figures, with their legends."""

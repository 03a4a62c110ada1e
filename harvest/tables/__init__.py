"""What people see of figures: grids and tables for the terminal, with their legends."""

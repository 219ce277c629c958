"""Theory: NumPy and SciPy only."""

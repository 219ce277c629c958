"""What comes back: the Trajectory of a run or a prediction, comparison, scaling exponents."""

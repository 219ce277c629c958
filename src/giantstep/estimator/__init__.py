"""A regressor and a classifier that grow their features by giant steps, and say what they found."""

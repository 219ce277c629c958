"""Learning curves of ridge on the features of given weights."""

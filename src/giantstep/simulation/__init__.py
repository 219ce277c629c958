"""Runs: two engines of one law, the readout, random numbers, threads."""

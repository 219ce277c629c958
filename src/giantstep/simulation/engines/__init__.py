"""Engines: two ways to run the same experiment, one law."""

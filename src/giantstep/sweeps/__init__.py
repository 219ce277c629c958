"""Grids of settings: run on this machine or on a cluster, resumable, and what they show."""

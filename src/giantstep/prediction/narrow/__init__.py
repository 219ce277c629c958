"""Narrow networks: p fixed as d grows."""

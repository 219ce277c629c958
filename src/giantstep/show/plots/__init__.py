"""Figures: each takes axes and returns them, so that a user can compose them."""

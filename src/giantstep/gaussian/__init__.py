"""Expectations under N(0, 1): Hermite series, kinks, quadrature, moments of neurons and pairs."""

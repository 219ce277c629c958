"""Linear width: n, d and p in proportion."""

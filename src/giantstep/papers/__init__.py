"""Claims and figures of the papers."""

"""Records in, plain values out: what the page draws."""

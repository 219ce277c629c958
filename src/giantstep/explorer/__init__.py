"""The web page: a thin server around the library, no formula in it."""

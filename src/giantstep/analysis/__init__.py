"""Before any run: exponents, subspaces, staircase, floors, phase curve."""

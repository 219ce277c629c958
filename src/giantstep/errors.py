"""The one error a user can cause."""


class InputError(ValueError):
    """Input that cannot be used; its message is one sentence with the offending value."""


class NoTheoryError(Exception):
    """No theory covers a setting; the message says why."""


class NotConvergedError(ArithmeticError):
    """An iteration that stopped short of its tolerance; the message says where and how far."""


class DivergenceError(ArithmeticError):
    """A run left the finite numbers; the message says where."""

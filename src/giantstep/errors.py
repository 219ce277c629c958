"""The one error a user can cause."""


class InputError(ValueError):
    """Input that cannot be used; its message is one sentence with the offending value."""

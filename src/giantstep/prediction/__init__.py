"""The same record from theory: a list of theories, each with what it covers."""

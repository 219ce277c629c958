"""What a user names: target, activation, input law, start, labels, and the Setting of them all."""

"""Random numbers: one stream for each place, and the same one every time."""

from itertools import product

import numpy as np

from giantstep.problem.randomness import Purpose, generator


def first(*words: int) -> float:
    return float(generator(*words).random())


def test_every_place_has_a_stream_of_its_own() -> None:
    """The first of 2^53 numbers of 2200 streams, all different: two alike by chance have 3e-10."""
    seeds = (0, 1, 2**32, 2**32 + 1, 2**63 - 1)
    places = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 1, 0), (0, 0, 1), (2, 3)]
    keys = list(product(seeds, (0, 1, 2, 7), Purpose, places))
    assert len(keys) == 5 * 4 * 11 * 10 == 2200
    numbers = [first(seed, run, purpose, *where) for seed, run, purpose, where in keys]
    assert len(set(numbers)) == len(keys)
    # The same numbers again, whatever was drawn before.
    assert numbers[::-1] == [first(s, r, p, *where) for s, r, p, where in keys[::-1]]


def test_fewer_words_would_not_tell_a_place_of_zeros() -> None:
    """Why the seed always takes two words: numpy fills short seeds with zeros."""
    short, longer = (np.random.SeedSequence(words) for words in ([3], [3, 0]))
    assert np.array_equal(short.generate_state(4), longer.generate_state(4))

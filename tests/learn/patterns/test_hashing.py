"""Keys of patterns: spread over 64 bits, and dependent on order and length."""

from __future__ import annotations

import numpy as np

from headgate.learn.patterns.hashing import hash_texts, mix, place_keys


def keys_of(*texts: str) -> list[int]:
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    return hash_texts(codes, np.cumsum(lengths) - lengths, lengths).tolist()


def test_mixing_is_that_of_splitmix64() -> None:
    assert mix(np.array([0], dtype=np.uint64)).tolist() == [0xE220A8397B1DCDAF]  # the first number of its seed 0


def test_mixing_changes_about_half_of_the_bits_for_each_bit() -> None:
    numbers = np.arange(1_000, dtype=np.uint64)
    for bit in (0, 31, 63):
        changed = mix(numbers) ^ mix(numbers ^ np.uint64(1 << bit))
        assert 30 < np.mean([int(each).bit_count() for each in changed]) < 34


def test_the_key_of_a_text_does_not_depend_on_its_neighbours() -> None:
    assert keys_of("ab", "c", "ab") == [*keys_of("ab"), *keys_of("c"), *keys_of("ab")]


def test_texts_of_other_order_or_length_have_other_keys() -> None:
    assert len(set(keys_of("ab", "ba", "a", "aa", "aaa", "b"))) == 6


def test_the_key_of_no_text_is_none() -> None:
    assert keys_of() == []


def test_terms_depend_on_the_position() -> None:
    keys = np.array([7, 7, 7], dtype=np.uint64)
    terms = place_keys(keys, np.array([0, 1, 0], dtype=np.uint64))
    assert terms[0] == terms[2] != terms[1]
    assert place_keys(keys, 1).tolist() == [terms[1]] * 3

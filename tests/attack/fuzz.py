"""Random regular expressions, and values on which they are slow if any are."""

from __future__ import annotations

import random
import re

LENGTH = 10_000

_ATOMS = ("a", "b", "ab", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", ",", "(?:a|b)", "x")
_REPEATS = ("*", "+", "?", "{2}", "{1,3}", "{0,9}", "{2,}", "*?", "+?", "{3,40}")
_LETTERS = "abx, 1"


def random_pattern(chance: random.Random) -> str:
    """A pattern of at most 120 characters, with repetitions in each other and overlapping classes."""
    while True:
        pattern = chance.choice(["^", ""]) + _random_part(chance, chance.randint(1, 4)) + chance.choice(["$", "", "x$"])
        if len(pattern) <= 120:
            return pattern


def _random_part(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if not depth or kind < 0.35:
        return chance.choice(_ATOMS)
    if kind < 0.6:
        return "".join(_random_part(chance, depth - 1) for _ in range(chance.randint(2, 4)))
    if kind < 0.75:
        return f"({'|'.join(_random_part(chance, depth - 1) for _ in range(chance.randint(2, 3)))})"
    return f"({_random_part(chance, depth - 1)}){chance.choice(_REPEATS)}"


def hostile_values(pattern: str, chance: random.Random) -> list[str]:
    """Values that nearly match: letters of the pattern over and over, and at the end what it cannot have."""
    letters = [char for char in dict.fromkeys(re.sub(r"\\.|[\[\](){}*+?|^$.]", "", pattern)) if char.isprintable()][:3]
    pumps = ["a", "ab", "aab", "a1", " ", "0", *letters]
    values = [_fill(pump, LENGTH - 1) + end for pump in pumps for end in "!\n"]
    for _ in range(4):
        one, two = ("".join(chance.choice(_LETTERS) for _ in range(chance.randint(1, 4))) for _ in range(2))
        values.append(_fill(one, LENGTH // 2) + _fill(two, LENGTH - LENGTH // 2 - 1) + "!")
    return values


def _fill(pump: str, length: int) -> str:
    return (pump * length)[:length]

"""A pattern of a value matches it in Python and in RE2, is known by one key, and is quick on the longest text."""

from __future__ import annotations

import random
import re
import string
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.patterns import whole_values
from headgate.learn.patterns.entries import ENTRY, Rows
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.lexer import MAX_LENGTH
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.settings import InferenceSettings
from tests.learn.patterns.test_generalize import VALUES, few, patterns_of
from tests.timing import measure_least_seconds

EXAMPLES = settings(max_examples=25)
QUICK = 0.1  # seconds for a million characters in RE2, which judges batches
LINEAR = 0.4  # in Python, on a busy machine: what is not linear takes minutes
MANY = 1_000_000

NASTY = [
    *string.punctuation,
    "\n",
    "\t",
    "\r",
    "\x00",
    "\x07",
    "\x1f",
    "\x7f",
    "\x85",
    "\u2028",
    "\u2029",
    " ",
    "\xa0",
    "&&",
    "[[",
    "--",
    "^-^",
    "\\",
    "\\n",
    "\\d",
    "\\Q",
    "\\E",
    "$",
    "$1",
    "${x}",
    "{2}",
    "{,3}",
    "(?i)",
    "(?:",
    "[a-z]",
    "[^",
    "|",
    "#",
    "a\nb",
    "é",
    "😀",
    "\U0010ffff",
    "'\"`",
    "<digit>",
    "x*",
    "x+?",
]
WHOLES = [
    "Main St. 5",
    "Main St.",
    "O’Neil & Sons",
    "a",
    "(a)",
    "http://a.b",
    "https://a.b/c?d#e",
    "http://a b",
    "http://a/ b",
    "ftp://a.b",
    "http://",
    "a@b.c",
    "a@b",
    "a.b+c@d-e.f.gh",
    "a@b..c",
    "a@b.c\n",
    "http://x:80/\n",
]


def const(text: str) -> Atom:
    return Atom(AtomKind.CONST, text=text)


def in_re2(regex: str, value: str) -> bool:
    return bool(pc.match_substring_regex(pa.array([value], pa.string()), regex)[0].as_py())


@EXAMPLES
@given(VALUES.filter(few))
def test_every_pattern_of_a_value_matches_it(value: str) -> None:
    for pattern in patterns_of(value):
        assert pattern.matches(value), str(pattern)
        assert re.fullmatch(pattern.body, value)
        assert in_re2(pattern.regex, value), str(pattern)


@EXAMPLES
@given(VALUES.filter(few), VALUES)
def test_python_and_re2_agree_on_other_values(value: str, other: str) -> None:
    for pattern in patterns_of(value)[::5]:
        for each in (other, f"{value}\n", f"\n{value}", value[1:], value[:-1], value.upper(), f"{value}{other}"):
            assert pattern.matches(each) == in_re2(pattern.regex, each), (str(pattern), each)


@EXAMPLES
@given(st.lists(VALUES.filter(few), min_size=2, max_size=4))
def test_two_patterns_never_have_one_key_and_one_has_one(values: list[str]) -> None:
    texts: dict[int, str] = {}
    keys: dict[Pattern, int] = {}
    for pattern in [each for value in values for each in patterns_of(value)]:
        assert texts.setdefault(pattern.key, str(pattern)) == str(pattern)
        assert keys.setdefault(pattern, pattern.key) == pattern.key


@pytest.mark.parametrize("text", NASTY, ids=ascii)
def test_a_constant_matches_itself_and_nothing_else(text: str) -> None:
    pattern = Pattern((Atom(AtomKind.DIGIT), const(text), Atom(AtomKind.DIGIT, 1)))
    assert pattern.matches(f"12{text}3")
    assert in_re2(pattern.regex, f"12{text}3")
    for other in (f"12{text}", f"{text}3", "123", f"12{text}{text}3", f"12{text[:-1]}\u00a73", f"12{text}3\n"):
        if other != f"12{text}3":
            assert not pattern.matches(other)
            assert not in_re2(pattern.regex, other)


def test_the_order_of_tokens_and_the_place_of_counts_are_in_the_key() -> None:
    letter, digit, dash = Atom(AtomKind.LETTER), Atom(AtomKind.DIGIT), const("-")
    patterns = [
        Pattern(atoms)
        for atoms in (
            (letter, dash, digit),
            (digit, dash, letter),
            (letter, digit),
            (digit, letter),
            (letter, dash),
            (dash, letter),
            (letter,),
            (Atom(AtomKind.LETTER, 1),),
            (Atom(AtomKind.LETTER, 2),),
            (Atom(AtomKind.UPPER, 2),),
            (const("A"),),
            (const("AA"),),
            (Atom(AtomKind.DECIMAL, 2),),
            (digit, const("."), Atom(AtomKind.DIGIT, 2)),
            (const("-"), const("-")),
            (const("--"),),
        )
    ]
    assert len({pattern.key for pattern in patterns}) == len(patterns)


def test_keys_never_change() -> None:
    known = {
        Pattern((Atom(AtomKind.LETTER, 3), const(" "), Atom(AtomKind.DIGIT, 2))): 18362935530552478911,
        Pattern((const("AB"), Atom(AtomKind.DIGIT))): 10214192692848258642,
        whole_values.EMAIL: 1804387934422170198,
    }
    assert {str(pattern): pattern.key for pattern in known} == {str(pattern): key for pattern, key in known.items()}


def test_the_text_of_a_pattern_is_that_of_the_paper() -> None:
    assert str(Pattern((Atom(AtomKind.LETTER, 3), const(" "), Atom(AtomKind.DIGIT)))) == "<letter>{3} <digit>+"
    assert str(Pattern((Atom(AtomKind.TITLE), const("<\\"), Atom(AtomKind.NUM)))) == "<upper><lower>+\\<\\\\<num>"


ATOMS = {
    sort.name.lower(): Pattern((Atom(sort, 2 if sort is AtomKind.DECIMAL else 0),))
    for sort in AtomKind
    if sort is not AtomKind.CONST
}
ROWS = {
    "long constant": Pattern((const("1" * (MAX_LENGTH - 1)), Atom(AtomKind.DIGIT))),
    "long count": Pattern((Atom(AtomKind.ALPHANUM, MAX_LENGTH),)),
    "words": Pattern((Atom(AtomKind.ALPHANUM), const("-")) * 10),
    "numbers": Pattern((Atom(AtomKind.NUM), const("/")) * 10),
    "digits and commas": Pattern((Atom(AtomKind.DIGIT), const(",")) * 10),
    "digits and points": Pattern((Atom(AtomKind.DIGIT), const(".")) * 10),
    "runs": Pattern((Atom(AtomKind.LETTER), Atom(AtomKind.DIGIT), const(" ")) * 6),
    "word, symbols, word": Pattern((Atom(AtomKind.ALPHANUM), Atom(AtomKind.SYMBOL), Atom(AtomKind.ALPHANUM))),
    "symbols, digits, symbols": Pattern((Atom(AtomKind.SYMBOL), Atom(AtomKind.DIGIT), Atom(AtomKind.SYMBOL))),
    "word, symbols, decimal": Pattern((Atom(AtomKind.TITLE), Atom(AtomKind.SYMBOL), Atom(AtomKind.DECIMAL, 3))),
    "below": whole_values.make_host_pattern("http://a"),
}
BODIES = {name: pattern.body for name, pattern in (ATOMS | ROWS).items()}
BODIES |= {
    "optional word": f"(?:{ATOMS['letter'].body} )?{ATOMS['num'].body}",
    "optional end": f"{ATOMS['num'].body}(?: {ATOMS['letter'].body})?",
    "union": f"(?:{ATOMS['num'].body}|{ATOMS['phrase'].body}|{ATOMS['email'].body}|{ATOMS['url'].body})",
    "union with the empty": f"(?:|{ATOMS['alphanum'].body}|{ROWS['words'].body})",
}
NEARLY = {
    "digits": "1" * MANY + "!",
    "letters": "a" * MANY + "!",
    "capitals": "A" * MANY + "!",
    "title": "A" + "a" * MANY + "!",
    "beyond ascii": "é" * (MANY // 2) + "!",
    "thousands": "1" + ",234" * (MANY // 4) + "!",
    "points": "1" + ".1" * (MANY // 2) + "!",
    "decimals": "1." + "1" * MANY + "!",
    "halves": "1" * (MANY // 2) + "." + "1" * (MANY // 2) + "!",
    "host": "a@a" + ".a" * (MANY // 2) + "!",
    "long hosts": "a@" + ("a" * (MANY // 9) + ".") * 9 + "!",
    "local part": "a" * MANY + "@",
    "address": "http://a" + "/a" * (MANY // 2) + " ",
    "address with points": "http://" + "a." * (MANY // 2) + " ",
    "symbols": "-" * MANY + "a",
    "signs": "+-" * (MANY // 2) + "x",
    "phrase": "a b " * (MANY // 4) + "1",
    "mixed": "a1" * (MANY // 2) + "!",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_a_million_characters_that_nearly_match_are_refused_in_a_tenth_of_a_second(body: str) -> None:
    compiled = re.compile(body)
    for name, value in NEARLY.items():
        array = pa.array([value])
        in_python = partial(compiled.fullmatch, value)
        in_re2 = partial(pc.match_substring_regex, array, f"^(?:{body})$")
        assert measure_least_seconds(in_python, LINEAR) < LINEAR, f"Python, {name}"
        assert measure_least_seconds(in_re2, QUICK) < QUICK, f"RE2, {name}"


def test_the_longest_patterns_are_within_the_bounds_of_re2() -> None:
    longest = [Pattern((Atom(sort, MAX_LENGTH),)) for sort in (AtomKind.LETTER, AtomKind.ALPHANUM, AtomKind.DIGIT)]
    value = "1" * MAX_LENGTH
    union = f"^(?:{'|'.join(pattern.body for pattern in longest)}|{const(value).regex})$"
    array = pa.array([value, value[1:], f"{value}1"])
    np.testing.assert_array_equal(pc.match_substring_regex(array, union).to_numpy(False), [True, False, False])


class Known:
    """Evidence that knows a few patterns well, and no other."""

    def __init__(self, *atoms: Atom) -> None:
        self.keys = np.array([Pattern((atom,)).key for atom in atoms], np.uint64)

    def find_entries(self, keys: Keys) -> Rows:
        rows = np.zeros(len(keys), ENTRY)
        for name in ("columns", "most", "led"):
            rows[name][np.isin(keys, self.keys)] = 1_000
        return rows


CHAINS = {
    "signed numbers": ([" ", "; ", ": ", "| "], ["-", "+"]),
    "numbers": (["; ", ": ", " / ", " - "], [""]),
}


@pytest.mark.parametrize(("between", "signs"), CHAINS.values(), ids=list(CHAINS))
def test_a_rule_has_no_chain_of_numbers_between_any_symbols(between: list[str], signs: list[str]) -> None:
    """<symbol>+ and <num> can share a sign or a point: in a row of 20, engines that go back try a million ways."""
    dice = random.Random(1)
    numbers = [[f"{dice.choice(signs)}{dice.randrange(10_000)}" for _ in range(20)] for _ in range(60)]
    evidence = Known(Atom(AtomKind.SYMBOL), Atom(AtomKind.NUM))
    fixed = infer(map(between[0].join, numbers), evidence, 100_000, InferenceSettings.of("headgate"))
    assert fixed is not None
    assert str(fixed).count("<num>") == 20
    for nearly in ("--5" * 20 + "!", f"1{between[0]}" * 20 + "!", f"1.1{between[0]}" * 19 + "1" * MANY + "!"):
        assert measure_least_seconds(partial(re.compile(fixed.regex[1:-1]).fullmatch, nearly), LINEAR) < LINEAR
    varied = ["".join(dice.choice(between) + number for number in each) for each in numbers]
    assert infer(varied, evidence, 100_000, InferenceSettings.of("headgate")) is None

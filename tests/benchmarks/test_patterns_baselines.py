"""The other methods of the patterns benchmark, on columns whose answer is known."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks.patterns.baselines.dictionary import deequ_cat, tfdv
from benchmarks.patterns.baselines.fractional_dictionary import deequ_fra
from benchmarks.patterns.baselines.grok import grok, patterns
from benchmarks.patterns.baselines.potters_wheel import rule, shared_ends, structures
from benchmarks.patterns.baselines.schema_matching import ValueIndex, broadened, methods
from benchmarks.patterns.protocol import matches

DAYS = [f"2020-{month:02}-{day:02}" for month, day in zip(range(1, 11), range(8, 28, 2), strict=True)]
IDS = ["A17-9", "B204-1", "A3-7", "C88-2", "B51-3", "C640-8", "A9-5", "B72-4", "C15-6", "A230-0"]
NAMES = ["Ann", "Bob", "Charlotte", "Dan", "Eve", "Frank", "Grace", "Hal", "Ida", "Jo"]
TEXTS = [
    "the end",
    "a new day has come",
    "Why not?",
    "42 ways",
    "x",
    "so-so",
    "No. 1!",
    "(none)",
    "yes & no",
    "ok then",
]
REST = pa.table(
    {
        "col_id": [1, 2, 3],
        "repo": ["a", "a", "b"],
        "values": [[*DAYS, "2021-05-06", "2021-05-06"], ["2020-01-08", "n/a"], NAMES],
    }
)


def text_of(train: list[str]) -> str | None:
    found = rule(train)
    return found and found.text


@pytest.mark.parametrize(
    ("train", "text"),
    [
        (DAYS, "2020-<digits>{2}-<digits>{2}"),
        (IDS, "<upper>{1}<digits>-<digits>{1}"),
        (NAMES, "<capitalised>"),
        (TEXTS, None),
        (["London"] * 10, "London"),
        (["1.5", "-22", "0.25", "7", "3.125", "-1.5", "8", "41", "2.75", "6"], "<decimal>"),
        (["a1@x.org", "bob@mail.com", "cd@y.net", "eve9@a-b.org", "f@z.edu"] * 2, "<alphanumeric>@<any>.<lower>{3}"),
    ],
)
def test_potters_wheel_finds_the_structure_of_fewest_bits(train, text):
    assert text_of(train) == text


@pytest.mark.parametrize("train", [DAYS, IDS, NAMES, ["ß-é", "Ü-ñ"], ["a.b[c]", "d.e[f]"], ["tab\there", "tab\tthere"]])
def test_a_structure_of_potters_wheel_fits_the_values_that_train(train):
    found = rule(train)
    assert found is not None
    assert matches(pa.array(train), found.regex).all()


def test_potters_wheel_passes_over_structures_that_leave_values_out():
    train = [*DAYS[:9], "unknown"]
    best = min(structures(train), key=lambda each: each.bits)
    assert not matches(pa.array(train), best.regex).all()
    assert rule(train) is None


def test_shared_ends_do_not_overlap_nor_cut_words():
    assert shared_ends(["-a-", "-b-"]) == ("-", "-")
    assert shared_ends(["--", "--"]) == ("--", "")
    assert shared_ends(["total 1", "tonal 2"]) == ("", "")


def test_tfdv_lists_every_value_seen():
    assert tfdv(NAMES).values == frozenset(NAMES)


def test_deequ_lists_values_only_if_few_were_seen_once():
    assert deequ_cat(NAMES) is None
    assert deequ_cat(["yes"] * 7 + ["no"] * 3).values == {"yes", "no"}
    assert deequ_cat(["yes"] * 9 + ["no"]) is None


def test_deequ_lists_the_commonest_values_if_they_are_not_all():
    found = deequ_fra(["a"] * 5 + ["b"] * 4 + ["c"])
    assert (found.values, found.least_share) == ({"a", "b"}, 0.71)
    assert deequ_fra(["a"] * 5 + ["b"] * 5) is None
    assert deequ_fra(NAMES) is None


@pytest.mark.parametrize(
    ("train", "name"),
    [
        (DAYS, "DATE_ISO"),
        (["2020-01-02T03:04:05Z", "2020-01-02 03:04"], "TIMESTAMP_ISO8601"),
        (["12/31/1999", "1/2/2020"], "DATE_US"),
        (["31/12/1999", "1/2/2020"], "DATE_EU"),
        (["31/12/1999", "12/31/1999"], "DATE"),
        (["2001:db8::1", "fe80::1ff:fe23:4567:890a"], "IPV6"),
        (["10.0.0.1", "::1"], "IP"),
        (["00:1b:44:11:3a:b7"], "COMMONMAC"),
        (["123e4567-e89b-12d3-a456-426614174000"], "UUID"),
        (["https://a.org/b?c=d#e", "ftp://host/file.txt"], "URI"),
        (["ann@mail.org"], "EMAILADDRESS"),
        (["/usr/lib", "/etc/hosts"], "UNIXPATH"),
        ([r"C:\Temp\a.txt"], "WINPATH"),
        (["Monday", "Tue"], "DAY"),
        (["January", "Feb"], "MONTH"),
        (["INFO", "WARN", "error"], "LOGLEVEL"),
        (["10/Oct/2000:13:55:36 -0700"], "HTTPDATE"),
        (["Oct  1 13:55:36"], "SYSLOGTIMESTAMP"),
        (["1", "22", "0"], "NONNEGINT"),
        (["1.5", "-2"], "NUMBER"),
        (["$1,200", "$3.50"], "MONEY"),
    ],
)
def test_grok_knows_common_types(train, name):
    assert grok(train).text == f"%{{{name}}}"


@pytest.mark.parametrize("train", [NAMES, IDS, TEXTS, ["10.0.0.256/8"], ["2020-13-01"]])
def test_grok_has_no_rule_for_what_it_does_not_know(train):
    assert grok(train) is None


def test_grok_patterns_have_names_of_their_own_and_match_no_empty_text():
    names = [name for name, _ in patterns()]
    assert len(names) == len(set(names)) >= 60
    assert not any(matches(pa.array([""]), regex).any() for _, regex in patterns())


def test_columns_that_share_values_lend_theirs():
    index = ValueIndex(REST)
    assert broadened(index, 1, DAYS) == [*DAYS, "2021-05-06", "n/a"]
    assert broadened(index, 10, DAYS) == [*DAYS, "2021-05-06"]
    assert broadened(index, 1, ["red"]) == ["red"]


def test_schema_matching_makes_a_rule_wider():
    one, ten = (each.infer(DAYS) for each in methods(REST))
    assert ten.text == "<digits>{4}-<digits>{2}-<digits>{2}"
    assert matches(pa.array(["2021-05-06"]), ten.regex).all()
    assert one is not None
    assert matches(pa.array(DAYS), one.regex).all()

"""Whatever a history holds, each page of it is drawn, is whole, and tells what became of the batch."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.report.fleet import fleet_page
from headgate.report.html import Report
from headgate.store.memory import MemoryStore
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Undefined
from headgate.values.predicate import Between, OneOf
from headgate.values.run import Decision, Revision, Run
from headgate.values.verdict import Verdict
from tests.gate.orders import SECRET, emptied, gate_after, judged, named, orders, renamed, torn
from tests.report.test_pages import Seen

FILLED = Check("orders").is_complete("price")
NOT_A_NUMBER = re.compile(r"(?<![\w-])(nan|inf|-inf)(?![\w-])", re.IGNORECASE)
DAYS = [datetime.date(2026, 1, 1 + at) for at in range(9)]


def new_gate(hide: bool = True, **given: Any) -> Gate:
    return Gate("orders", store=MemoryStore(hide=hide, secret=SECRET), **{"learn": [], "false_alarms": 0.05, **given})


def after(tables: Iterable[pa.Table], **given: Any) -> Gate:
    gate = new_gate(**given)
    for day, table in enumerate(tables):
        gate.judge(table, named(day))
    return gate


def seen(gate: Gate, verdict: BatchVerdict | str | None = None) -> Seen:
    """All three pages are drawn; the one that is asked for is given."""
    for page in (Report.of(gate), Report.fleet([gate])):
        _whole(page)
    return _whole(Report.of(gate, verdict))


def _whole(page: Report) -> Seen:
    found = Seen(page)
    assert len(found.of("h1")) == 1
    for _, attributes in found.attributes:
        drawn = [attributes.get(name) or "" for name in ("d", "x", "y", "cx", "cy", "width", "height", "viewbox")]
        assert not any(NOT_A_NUMBER.search(each) for each in drawn)
    return found


def pill(page: Seen) -> str:
    return next(text for home, text in page.texts if home == "p")


def facts(page: Seen) -> dict[str, str]:
    return dict(zip(page.of("dt"), page.of("dd"), strict=True))


# --- what became of the batch

DONE = {
    "accept": ("✓ accepted", "It is healthy"),
    "release": ("! released", "None of 1 needs somebody"),
    "reject": ("✗ rejected", "1 of 1 needs somebody"),
    "discard": ("✗ discarded", "None of 1 needs somebody"),
}


@pytest.mark.parametrize(("word", "told"), DONE.items())
def test_what_a_person_decided_is_what_the_pages_tell(word: str, told: tuple[str, str]) -> None:
    gate = after([orders(0), emptied(orders(1), "price")], checks=FILLED)
    getattr(gate, word)(named(1), note="because")
    page = seen(gate, named(1))
    assert pill(page) == pill(seen(gate)) == told[0]
    assert Seen(Report.fleet([gate])).of("h1") == [told[1]]
    assert page.of("h1") == [f"orders {named(1)} was {told[0][2:]} by a person."]
    assert any("headgate accept" in each for each in page.of("code")) is (word == "reject")


def test_rows_that_were_split_are_told_as_split() -> None:
    gate = after([orders(0), emptied(orders(1), "price")], checks=FILLED)
    gate.store.decide("orders", named(1), Decision.SPLIT)
    assert pill(seen(gate, named(1))) == "✗ rows split"
    assert not any("headgate accept" in each for each in seen(gate, named(1)).of("code"))


def test_a_batch_that_passed_and_is_not_decided_yet_did_not_fail() -> None:
    gate = new_gate()
    run = after([orders(0)]).store
    gate.store.commit(run.run(run.revisions("orders")[0]))
    page = seen(gate)
    assert "pass, not decided" in page.of("td")
    assert "failed, not held" not in page.of("td")


@pytest.mark.parametrize(
    ("table", "state", "commands"),
    [(orders(0), "✓ published", False), (emptied(orders(0), "price"), "✗ published", True)],
)
def test_a_gate_that_observes_offers_something_to_do_only_where_something_is_wrong(
    table: pa.Table, state: str, commands: bool
) -> None:
    gate = after([table], checks=FILLED, mode="observe")
    page = seen(gate, named(0))
    assert "This gate observes: it holds nothing." in page.text
    assert pill(page) == state
    assert any("headgate accept" in each for each in page.of("code")) is commands


def test_a_batch_of_which_nothing_could_be_judged_is_no_error_and_can_be_let_through() -> None:
    gate = new_gate()
    gate.store.commit(Run(dataset="orders", partition="a", fingerprint="f"))
    page = seen(gate, "a")
    assert page.of("h1") == ["nothing could be judged of orders a, so it was held."]
    assert "That is an error" not in page.text
    assert "headgate release orders a" in " ".join(page.of("code"))
    assert "gate.release('a'" in gate.explain("a").explain()


def test_warnings_are_told_and_hold_nothing() -> None:
    gate = after([emptied(orders(0), "price")], checks=Check("orders", level="warn").is_complete("price"))
    page = seen(gate, named(0))
    assert pill(page) == "✓ published"
    assert "Warnings" in page.of("h2")
    assert any(text.startswith("price is 60") for text in page.of("li"))


@pytest.mark.parametrize(("hide", "words"), [(True, "OSError"), (False, "OSError: the connection was reset")])
def test_a_batch_that_could_not_be_read_has_a_page_as_the_first_and_as_a_later_one(hide: bool, words: str) -> None:
    gate = new_gate(hide=hide)
    for before in range(2):
        page = seen(gate, judged(gate, before * 2, torn()))
        assert pill(page) == "! held"
        assert f"the batch could not be read: {words}" in page.of("h2")
        judged(gate, 1)


def test_good_after_a_bad_batch_that_was_accepted_is_no_recovery() -> None:
    gate = after([orders(0), emptied(orders(1), "price"), orders(2)], checks=FILLED)
    assert "Healthy again" in seen(gate, named(2)).text
    gate.accept(named(1))
    assert "Healthy again" not in seen(gate, named(2)).text


# --- the order of runs


def test_a_later_revision_is_told_and_the_earlier_one_still_has_its_page() -> None:
    gate = after([orders(0), emptied(orders(1), "price")], checks=FILLED)
    judged(gate, 1)
    assert pill(seen(gate, named(1))) == "✓ published"
    assert "revision 2" in seen(gate, named(1)).text
    assert pill(seen(gate, gate.explain(named(1), number=1))) == "✗ held"
    assert "revision 2" in seen(gate).of("small")


def test_a_late_batch_stands_at_its_place_and_not_at_the_end() -> None:
    gate = new_gate(checks=FILLED)
    for name, table in (("week 9", orders(0)), ("week 11", orders(1)), ("week 10", emptied(orders(2), "price"))):
        gate.judge(table, name)
    assert [text for text in seen(gate).of("th") if text.startswith("week")] == ["week 11", "week 10", "week 9"]
    assert pill(seen(gate)) == "✓ published"
    page = seen(gate, "week 10")
    assert [text for text in page.of("title") if text.startswith("week")][:2] == [
        "week 9: 0.0%",
        "week 10: 60.0%, held",
    ]
    assert facts(page)["Last good"] == "0.0% in week 9"


def test_the_page_of_many_bad_runs_reads_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = after([emptied(orders(day % 3), "price") for day in range(31)], checks=FILLED)
    read: list[Revision] = []
    whole = gate.store.run

    def counted(revision: Revision, **given: Any) -> Run:
        read.append(revision)
        return whole(revision, **given)

    monkeypatch.setattr(gate.store, "run", counted)
    page = Seen(Report.of(gate))
    assert len(read) <= 10
    assert len({each.sequence for each in read}) == len(read)
    assert page.of("td").count("its own page tells") == 20
    read.clear()
    Report.of(gate, gate.explain(named(30)))
    assert len(read) <= 2


# --- columns and values


def test_columns_that_come_and_go_are_told_where_they_went() -> None:
    price = orders(0).select(["price"])
    gate = after([orders(0), price, orders(2), renamed(orders(3), "country", "nation"), price])
    assert {"− gone", "+ new"} <= set(seen(gate, named(3)).of("td"))
    assert "gone" in seen(gate).of("small")


NUMBERS: dict[str, Sequence[Any]] = {
    "huge": [[1e308, -1e308, 1e200], [1.7e308, 1e307, 2.0], [-1.7e308, 1e200, 1.0]],
    "nothing": [[None, None], [None, None]],
    "not numbers": [[np.nan, np.nan], [np.nan, np.nan]],
    "endless": [[1.0, 2.0], [np.inf, -np.inf]],
    "tiny": [[5e-324, 1e-310], [1e-300, 2e-310]],
    "once": [[1.0]],
    "none at all": [[], []],
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_every_size_can_be_drawn(values: Sequence[Any]) -> None:
    check = Check("orders").has_max("x", at_most=-5).is_complete("x").has_sum("x", between=(3, 4))
    gate = after([pa.table({"x": pa.array(each, pa.float64())}) for each in values], checks=check)
    last = gate.explain(named(len(values) - 1))
    assert pill(seen(gate, last)) == ("✗ held" if last.causes else "✓ published")


def test_an_infinity_is_told_in_words_beside_the_last_good_value() -> None:
    check = Check("orders").has_max("x", at_most=5)
    gate = after([pa.table({"x": [1.0, 2.0]}), pa.table({"x": [1.0, np.inf]})], checks=check)
    page = seen(gate, named(1))
    assert "max(x) is infinity, expected at most 5" in page.of("h2")
    told = facts(page)
    assert (told["Now"], told["Expected"]) == ("x: largest infinity", "at most 5")
    assert told["Last good"] == f"2 in {named(0)}"


TYPES: dict[str, tuple[list[Any], str]] = {
    "dates": ([*DAYS[:8], None], "date32[day]"),
    "moments": ([datetime.datetime(2026, 1, 1, 12), datetime.datetime(9999, 12, 31), None], "timestamp[us]"),
    "booleans": ([True, False, None], "bool"),
    "decimals": ([Decimal("1.23"), Decimal("99999999999999999999.12"), None], "decimal128(22, 2)"),
    "bytes": ([b"a", b"\xff\x00", None], "binary"),
    "structs": ([{"a": 1}, {"a": 2}, None], "struct<a: int64>"),
    "lists": ([[1], [], None], "list<item: int64>"),
    "durations": ([datetime.timedelta(1), datetime.timedelta(-1), None], "duration[us]"),
    "times": ([datetime.time(1), datetime.time(23), None], "time64[us]"),
    "empty": ([None, None, None], "null"),
}


@pytest.mark.parametrize(("values", "kind"), TYPES.values(), ids=TYPES)
def test_columns_of_every_type_have_a_page(values: list[Any], kind: str) -> None:
    gate = after([pa.table({"x": values}), pa.table({"x": values[::-1]})], checks=Check("orders").is_complete("x"))
    page = seen(gate, named(1))
    assert pill(page) == "✗ held"
    assert kind in page.of("td")


def test_dates_are_told_as_dates() -> None:
    check = Check("orders").has_max("d", at_most=datetime.datetime(2030, 1, 1))
    wrong = [datetime.date(1970, 1, 1)] * 8 + [datetime.date(9999, 12, 31)]
    page = seen(after([pa.table({"d": DAYS}), pa.table({"d": wrong})], checks=check), named(1))
    told = facts(page)
    assert (told["Now"], told["Expected"]) == ("d: largest 9999-12-31", "at most 2030-01-01")
    assert told["Last good"] == f"2026-01-09 in {named(0)}"


def test_a_span_of_time_has_its_unit() -> None:
    gate = after([pa.table({"d": DAYS}), pa.table({"d": DAYS[:8]})])
    (row,) = re.findall(r'<th scope="row">range<td>([^<]+)<td>([^<]+)<td>([^<]+)<td>', Report.of(gate).html)
    assert [" ".join(each.split()) for each in row] == ["7 days", "7 days", "8 days"]
    assert "same as the run before no" in seen(gate).text


HOSTILE = ["a", "a", "A", "", "x" * 5_000, "<b>\n'\"`.e\U0001f600", "nan", "size()"]


def test_names_of_every_kind_are_text_and_stay_apart() -> None:
    table = pa.table([pa.array([at, None]) for at in range(len(HOSTILE))], names=HOSTILE)
    gate = after([table, table], checks=Check("orders").is_complete(HOSTILE[5]))
    page = seen(gate, named(1))
    assert pill(page) == "✗ held"
    assert not [tag for tag, _ in page.attributes if tag == "b"][3:]  # those of the legend
    assert f"All {len(HOSTILE)} columns" in page.of("h2")


@pytest.mark.parametrize(("rows", "told"), [(9_999, "0.01%"), (999_999, "0.0001%"), (2, "33.3%")])
def test_a_share_that_is_not_nothing_does_not_look_like_nothing(rows: int, told: str) -> None:
    table = pa.table({"x": pa.array([None] + [1.0] * rows)})
    page = seen(after([table], checks=Check("orders").is_complete("x")), named(0))
    assert f"x is {told} empty; expected at most 0.0%" in page.of("h2")
    assert facts(page)["Now"] == f"x: empty {told}"
    assert "100.0%" not in page.of("td")


# --- segments


@pytest.mark.parametrize("hide", [True, False])
def test_the_worst_segment_is_first_and_it_is_told_that_its_name_is_hidden(hide: bool) -> None:
    prices = [None if at < missing else 1.0 for missing in (1, 5, 3) for at in range(10)]
    table = pa.table({"price": pa.array(prices, pa.float64()), "k": [name for name in "abc" for _ in range(10)]})
    gate = new_gate(hide=hide, checks=Check("orders").is_complete("price", by="k"))
    verdict = gate.judge(table, named(0))
    page = seen(gate, verdict)
    worst = [text for text in page.of("li") if text.startswith("k=")]
    assert [re.findall(r"[\d.]+% empty", each) for each in worst] == [["50.0% empty"], ["30.0% empty"], ["10.0% empty"]]
    assert all(("k=(hidden: " in each) is hide for each in worst)
    assert "price is 50.0% empty; expected at most 0.0%, in the worst of 3 segments by k" in page.of("h2")
    told = facts(page)
    assert told["Now"].startswith("price: empty 50.0% in k=")
    assert told["Rows"].startswith("5 of 10 rows of k=")
    assert "Last good" not in told
    assert ("k=(hidden: " if hide else "k=b: ") in verdict.explain()


# --- what another version wrote


def rewritten(gate: Gate, judgements: Sequence[Judgement] = (), blamed: Any = (), **outcomes: float) -> Gate:
    """The same history; of its last run, a newer version measured and judged more."""
    made = new_gate()
    more = {MetricKey.parse(name.replace("__", "(") + ")"): Measured(value) for name, value in outcomes.items()}
    *earlier, last = (gate.store.run(each) for each in gate.store.revisions("orders"))
    for run in earlier:
        made.store.commit(msgspec.structs.replace(run, outcomes={**run.outcomes, **more}))
        made.store.decide("orders", run.partition, Decision.PUBLISHED)
    verdict = Verdict((*last.verdict.judgements, *judgements))
    account = msgspec.structs.replace(last.account, contributions=blamed, action=made.settings.action(verdict.status))
    made.store.commit(
        msgspec.structs.replace(last, outcomes={**last.outcomes, **more}, verdict=verdict, account=account)
    )
    return made


@pytest.mark.parametrize("source", [Source.DECLARED, Source.HISTORY, Source.NOVELTY, Source.RULES])
@pytest.mark.parametrize("metric", ["wobble(price)", "wobble()", "mean(price, trim=3)", "column_count()", "size()"])
def test_metrics_that_this_version_does_not_know_are_told_by_their_names(metric: str, source: Source) -> None:
    rate = None if source is Source.DECLARED else 0.001
    bad = Expectation(MetricKey.parse(metric), Between(high=5), source, false_alarm=rate).judge(Measured(7.5))
    gate = rewritten(after([orders(0), orders(1)]), [bad], wobble__price=7.5, wobble__=3.0)
    page = seen(gate, named(1))
    assert pill(page) == "✗ held"
    assert "7.5" in page.text


@pytest.mark.parametrize("predicate", [Between(high=float("inf"), low=9.0), OneOf((1.0, 2.0)), OneOf((0.5,))])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), 7.25, 0.0])
@pytest.mark.parametrize("metric", ["mean(price)", "completeness(price)", "wobble(price)", "ks_dist(price)"])
def test_values_that_are_no_finite_numbers_are_told(metric: str, value: float, predicate: Any) -> None:
    made = Expectation(MetricKey.parse(metric), predicate, Source.HISTORY, false_alarm=0.001)
    bad = Judgement(made, Status.FAIL, f"{metric} is {value}", value)
    page = seen(rewritten(after([orders(0), orders(1)]), [bad]), named(1))
    assert pill(page) == "✗ held"


def test_shares_are_expected_in_the_words_in_which_they_are_told() -> None:
    made = Expectation(MetricKey("completeness", ("price",)), OneOf((0.5, 0.75)), Source.HISTORY, false_alarm=0.001)
    told = facts(seen(rewritten(after([orders(0), orders(1)]), [made.judge(Measured(1.0))]), named(1)))
    assert (told["Now"], told["Expected"]) == ("price: empty 0.0%", "one of 50.0%, 25.0%")


def test_a_distance_that_is_not_defined_is_skipped_and_no_cause() -> None:
    made = Expectation(MetricKey("ks_dist", ("price",)), Between(high=0.1), Source.HISTORY, false_alarm=0.001)
    gate = rewritten(after([orders(0), orders(1)]), [made.judge(Undefined("no rows before"))])
    page = seen(gate, named(1))
    assert pill(page) == "✓ published"
    assert "ks_dist(price) has no value: no rows before" in page.of("td")


# --- what was learned


def test_a_batch_that_is_only_unlike_the_others_names_the_columns_and_draws_how_far_it_is() -> None:
    made = Expectation(MetricKey("novelty"), Between(high=1.5), Source.NOVELTY, false_alarm=0.002)
    blamed = (("mean(price)", 0.6), ("size()", 0.1))
    gate = rewritten(after([orders(0), orders(1)]), [made.judge(Measured(3.2))], blamed, novelty__=3.2)
    page = seen(gate, named(1))
    (title,) = [text for text in page.of("h2") if "unlike" in text]
    assert title.endswith("most in price (60%)")
    assert "how unlike the runs before" in page.of("figcaption")
    assert (facts(page)["Now"], facts(page)["Expected"]) == ("how unlike the runs before 3.2", "at most 1.5")
    assert facts(page)["How rare"] == "a good batch looks like this 1 in 500 runs"


def test_fewer_rows_are_told_by_the_rows() -> None:
    gate = gate_after(12)
    page = seen(gate, judged(gate, 12, orders(12).slice(0, 9)))
    assert facts(page)["Now"] == "rows 9"
    assert not any(each.startswith("has_rows") for each in page.of("li"))


def test_a_fleet_is_healthy_only_if_every_dataset_is() -> None:
    well, new = after([orders(0)]), new_gate()
    assert Seen(Report.fleet([well, well])).of("h1") == ["All 2 are healthy"]
    assert Seen(Report.fleet([well, new])).of("h1") == ["None of 2 needs somebody"]
    sick = after([emptied(orders(0), "price")], checks=FILLED)
    counts = fleet_page([well, new, sick], lambda *_: "")
    assert [counts[name] for name in ("waiting", "bad", "unsure", "good", "silent")] == [1, 1, 0, 1, 1]


def test_levels_are_kept_apart() -> None:
    both = Check("orders", level="warn").is_complete("price").is_complete("quantity", level="error")
    gate = after([emptied(emptied(orders(0), "price"), "quantity")], checks=both)
    verdict = gate.explain(named(0))
    assert [each.columns for each in verdict.causes] == [("quantity",)]
    assert [each.columns for each in verdict.warnings] == [("price",)]
    assert {each.expectation.level for each in verdict.failures} == {Level.ERROR, Level.WARN}
    assert pill(seen(gate, verdict)) == "✗ held"

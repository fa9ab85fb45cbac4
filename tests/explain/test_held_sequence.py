"""Held batches that agree with the one after them are told as one cause; those that do not are not."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest
from msgspec.structs import replace

from headgate.engine.analyze import analyze
from headgate.explain.cause import Cause
from headgate.explain.causes import find_causes
from headgate.explain.held_sequence import MAX_HELD, find_held_sequence, values_agree
from headgate.explain.level_wording import count_steps, describe_held
from headgate.learn.past import Past
from headgate.values.account import Account, HeldSequence
from headgate.values.expectation import Expectation, Judgement, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.period import read_period
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.run import Revision, Run
from headgate.values.verdict import Verdict

RANGE = Between(20, 30)


def judgement(metric: str, value: float, expected: Predicate = RANGE, source: Source = Source.HISTORY) -> Judgement:
    made = Expectation(MetricKey.parse(metric), expected, source, false_alarm=0.001)
    return made.judge(Measured(value))


def run_of(day: int, *judgements: Judgement, also: dict[str, float] | None = None) -> Run:
    """The run of a day, with what was judged, and with values of metrics that nothing was expected of."""
    measured = {each.expectation.metric: each.value for each in judgements}
    measured |= {MetricKey.parse(metric): value for metric, value in (also or {}).items()}
    return Run(
        dataset="orders",
        partition=f"2026-11-{day:02}",
        fingerprint=str(day),
        outcomes={key: Measured(float(value)) for key, value in measured.items() if value is not None},
        verdict=Verdict(judgements),
        account=Account(),
    )


def sequence(*runs: Run, numbers: Sequence[int] = (), past: Past | None = None) -> HeldSequence:
    """What the last run has in common with the others, of which each is held, as a revision of this number."""
    before = [
        (Revision.of(run, number=number, sequence=at), run)
        for at, (run, number) in enumerate(zip(runs[:-1], numbers or [1] * (len(runs) - 1), strict=True), 1)
    ]
    return find_held_sequence(runs[-1], before, past)


def means(*values: float, metric: str = "mean(price)", expected: Predicate = RANGE) -> HeldSequence:
    return sequence(*(run_of(day, judgement(metric, value, expected)) for day, value in enumerate(values, 1)))


def causes(run: Run, held: HeldSequence) -> list[Cause]:
    return list(find_causes(run.verdict.judgements, Account(held=held)))


# --- when values agree


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([121, 119, 120], 20, 30),
        ([-50, -55], 20, 30),
        ([0.7, 0.72, 0.69], 0.99, None),  # a share
        ([7, 7], 6, 6),  # a constant
        ([0, 0], 1, 1),  # a column that is gone
    ],
)
def test_values_far_from_the_range_and_near_each_other_agree(
    values: list[float], low: float | None, high: float | None
) -> None:
    assert values_agree(values, low, high)


@pytest.mark.parametrize(
    "values",
    [
        [121, -71],  # the other side
        [50, 80, 110],  # drifts on
        [31, 32],  # both just outside
        [121, 25],  # one is as expected
        [121, float("inf")],
        [121, float("nan")],
    ],
)
def test_other_values_do_not_agree(values: list[float]) -> None:
    assert not values_agree(values, 20, 30)


def test_a_quarter_of_the_distance_is_the_most_that_they_lie_apart() -> None:
    assert values_agree([70, 80], 20, 30)
    assert not values_agree([70, 80.1], 20, 30)


# --- one metric


def test_the_same_level_in_all_held_runs_is_one_sequence() -> None:
    found = means(121, 119, 120)
    assert found.partitions == found.alike_partitions == ("2026-11-01", "2026-11-02")
    assert [(each.metric, each.values) for each in found.levels] == [("mean(price)", (121, 119, 120))]


def test_a_sequence_begins_where_the_level_does() -> None:
    assert means(500, 119, 120).partitions == ("2026-11-02",)


@pytest.mark.parametrize("values", [(121,), (-71, 120), (50, 80), (60, 120, 240)])
def test_the_first_run_of_a_level_has_no_sequence(values: tuple[float, ...]) -> None:
    assert means(*values) == HeldSequence()


def test_a_level_that_drifts_on_is_no_new_level() -> None:
    assert means(100, 115, 130, 145).partitions == ("2026-11-03",)


def test_at_most_ten_held_runs_are_looked_at() -> None:
    found = means(*[120.0] * 15)
    assert len(found.partitions) == MAX_HELD
    run = run_of(15, judgement("mean(price)", 120))
    assert causes(run, found)[0].title.startswith("price: more than 10 batches at the new level (mean 120;")


def test_a_metric_agrees_by_what_was_measured_also_where_another_one_failed() -> None:
    first = run_of(1, judgement("median(price)", 110), also={"mean(price)": 121})
    assert sequence(first, run_of(2, judgement("mean(price)", 120))).alike == 1


def test_a_value_that_was_not_measured_ends_the_sequence() -> None:
    assert sequence(run_of(1, judgement("median(price)", 110)), run_of(2, judgement("mean(price)", 120))).alike == 0


def past_of(*levels: float) -> Past:
    """Accepted runs whose prices lie around these levels."""
    tables = [pa.table({"price": [level - 1.0, level, level + 1.0]}) for level in levels]
    return Past.of([analyze(table) for table in tables])


def noisy(day: int, mean: float, deviation: float) -> Run:
    return run_of(day, judgement("stddev(price)", deviation, Between(high=5)), also={"mean(price)": mean})


def test_the_mean_is_enough_where_the_metric_that_failed_is_noisy() -> None:
    runs = [noisy(1, 120, 60), noisy(2, 121, 140)]
    found = sequence(*runs, past=past_of(24, 25, 26))
    assert [(each.metric, each.values, each.low, each.high) for each in found.levels] == [
        ("mean(price)", (120, 121), 24, 26)
    ]
    assert causes(runs[1], found)[0].title == "price: second batch at the new level (mean 120, 121; 24 to 26 before)"


@pytest.mark.parametrize("means", [(120, 240), (24.5, 25.5), (120, -70)], ids=["drifts", "as before", "other side"])
def test_a_mean_that_does_not_agree_is_not_enough(means: tuple[float, float]) -> None:
    runs = [noisy(1, means[0], 60), noisy(2, means[1], 140)]
    assert sequence(*runs, past=past_of(24, 25, 26)) == HeldSequence()


def test_a_distance_does_not_count_if_the_mean_moved() -> None:
    def far(day: int, mean: float) -> Run:
        return run_of(day, judgement("ks_dist(price)", 1.0, Between(high=0.2)), also={"mean(price)": mean})

    past = past_of(24, 25, 26)
    assert sequence(far(1, 120), far(2, 240), past=past) == HeldSequence()
    assert [each.metric for each in sequence(far(1, 120), far(2, 121), past=past).levels] == ["mean(price)"]
    assert [each.metric for each in sequence(far(1, 25), far(2, 25), past=past).levels] == ["ks_dist(price)"]


def test_a_batch_that_is_novel_as_a_whole_agrees_by_the_mean_of_the_column_behind_it() -> None:
    novelty = judgement("novelty()", 3.8, Between(high=2), Source.NOVELTY)
    account = Account(contributions=(("mean(price)", 0.9), ("median(cost)", 0.1)))
    first, last = run_of(1, judgement("mean(price)", 120)), run_of(2, novelty, also={"mean(price)": 121})
    last = replace(last, account=account)
    found = sequence(first, last, past=past_of(24, 25, 26))
    assert found.alike == 1
    (cause,) = find_causes(last.verdict.judgements, replace(account, held=found))
    assert cause.title == "price: second batch at the new level (mean 120, 121; 24 to 26 before)"


def test_values_are_compared_with_accepted_runs_if_more_is_expected() -> None:
    wide = [run_of(day, judgement("mean(price)", 50.0 + day, Between(20, 50))) for day in (1, 2)]
    assert sequence(*wide) == HeldSequence()
    assert sequence(*wide, past=past_of(24, 26)).alike == 1


def test_timestamps_are_compared_as_if_they_were_of_the_same_day() -> None:
    def late(day: int, days: float) -> Run:
        period = read_period(f"2026-11-{day:02}")
        assert period is not None
        start = period.seconds
        return run_of(day, judgement("max(at)", start - days * 86_400, Between(start, start + 86_400, moments=True)))

    assert sequence(late(1, 5), late(2, 5.1)).alike == 1
    assert sequence(late(1, 5), late(2, 9)).alike == 0


# --- several metrics and causes


def test_half_of_the_metrics_of_a_column_have_to_agree() -> None:
    def day(number: int, mean: float, median: float, largest: float) -> Run:
        values = {"mean(price)": mean, "median(price)": median, "max(price)": largest}
        return run_of(number, *(judgement(metric, value) for metric, value in values.items()))

    assert sequence(day(1, 120, 110, 500), day(2, 121, 111, 900)).alike == 1
    assert sequence(day(1, 60, 111, 500), day(2, 120, 111, 900)).alike == 0


def test_a_distance_counts_only_if_no_other_metric_failed() -> None:
    def day(number: int, mean: float) -> Run:
        return run_of(number, judgement("mean(price)", mean), judgement("ks_dist(price)", 1.0, Between(high=0.2)))

    assert sequence(day(1, 60), day(2, 240)).alike == 0
    far = [run_of(number, judgement("ks_dist(price)", 1.0, Between(high=0.2))) for number in (1, 2)]
    assert sequence(*far).alike == 1
    assert causes(far[1], sequence(*far))[0].title.endswith("expected at most 0.2, for the second batch")


def test_another_column_is_another_cause() -> None:
    assert sequence(run_of(1, judgement("mean(cost)", 120)), run_of(2, judgement("mean(price)", 120))) == HeldSequence()


def test_a_batch_that_has_one_more_cause_is_told_and_not_offered_with_the_others() -> None:
    first = run_of(1, judgement("mean(price)", 121))
    last = run_of(2, judgement("mean(price)", 120), judgement("completeness(city)", 0.4, OneOf((1.0,))))
    found = sequence(first, last)
    assert (found.partitions, found.alike) == (("2026-11-01",), 0)
    assert {each.columns[0]: each.held_before for each in causes(last, found)} == {
        "price": ("2026-11-01",),
        "city": (),
    }


def test_an_earlier_batch_that_has_one_more_cause_is_not_offered_with_the_others() -> None:
    city = judgement("completeness(city)", 0.4, OneOf((1.0,)))
    runs = [
        run_of(1, judgement("mean(price)", 121), city),
        *(run_of(day, judgement("mean(price)", 120)) for day in (2, 3)),
    ]
    found = sequence(*runs)
    assert found.partitions == ("2026-11-01", "2026-11-02")
    assert found.alike_partitions == ("2026-11-02",)


def test_a_batch_with_several_revisions_is_told_and_not_offered_with_the_others() -> None:
    runs = [run_of(day, judgement("mean(price)", 120)) for day in (1, 2, 3)]
    found = sequence(*runs, numbers=[2, 1])
    assert (len(found.partitions), found.alike_partitions) == (2, ("2026-11-02",))


def test_a_schema_agrees_only_as_a_whole() -> None:
    def without(day: int, column: str) -> Run:
        there = {name: float(name != column) for name in ("city", "code")}
        columns = [judgement(f"has_column({name})", value, OneOf((1.0,))) for name, value in there.items()]
        return run_of(day, *columns, judgement("column_count()", 4, OneOf((5.0,))))

    assert sequence(without(1, "city"), without(2, "city")).alike == 1
    assert sequence(without(1, "city"), without(2, "code")).alike == 0


@pytest.mark.parametrize(
    "other",
    [
        judgement("mean(price)", 120, source=Source.DECLARED),
        judgement("novelty()", 120, source=Source.NOVELTY),
        judgement("copies()", 1, OneOf((0.0,))),
    ],
    ids=lambda each: str(each.expectation.metric),
)
def test_what_is_declared_a_copy_or_novel_has_no_level(other: Judgement) -> None:
    assert sequence(run_of(1, other), run_of(2, other)) == HeldSequence()


# --- in words


def test_the_title_says_which_one_it_is_with_values_and_range() -> None:
    held = means(121, 119, 120)
    (cause,) = causes(run_of(3, judgement("mean(price)", 120)), held)
    assert cause.title == "price: third batch at the new level (mean 121, 119, 120; 20 to 30 before)"
    assert cause.held_before == ("2026-11-01", "2026-11-02")
    assert describe_held(cause.held_before) == "2026-11-01 and 2026-11-02 were held for the same reason"


def test_a_share_that_is_missing_is_told_as_people_read_it() -> None:
    held = means(0.4, 0.41, 0.39, 0.4, metric="completeness(city)", expected=OneOf((1.0,)))
    (cause,) = causes(run_of(4, judgement("completeness(city)", 0.4, OneOf((1.0,)))), held)
    assert cause.title == "city: fourth batch at the new level (59.0% to 61.0% empty; 0.0% before)"


def test_a_metric_without_a_plain_name_is_told_by_its_own() -> None:
    (cause,) = causes(run_of(2, judgement("sum(price)", 120)), means(121, 120, metric="sum(price)"))
    assert cause.title == "price: second batch at the new level (sum 121, 120; 20 to 30 before)"


def test_columns_that_broke_alike_keep_their_title() -> None:
    runs = [run_of(day, judgement("mean(a)", 120), judgement("mean(b)", 120)) for day in (1, 2)]
    (cause,) = causes(runs[1], sequence(*runs))
    assert cause.title == "a and b broke alike: mean(a) is 120, expected within 20..30, for the second batch"


def test_words_count_up_to_ten() -> None:
    assert [count_steps(count, "day") for count in (2, 10, 11)] == ["second day", "tenth day", "more than 10 days"]
    assert (
        describe_held([f"day {day}" for day in range(5)])
        == "5 batches from day 0 to day 4 were held for the same reason"
    )
    assert describe_held(["day 1"]) == "day 1 was held for the same reason"
    assert describe_held([]) == ""

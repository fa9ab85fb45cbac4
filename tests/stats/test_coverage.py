"""Budgeted maximum coverage, against brute force and a greedy that is not lazy.

`python -m tests.stats.test_coverage` prints how near to the best selection it comes.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.stats.coverage import Selection, greedy, select

GUARANTEED = 1 / 2 - 1 / (2 * math.e)
BUDGET = 1.0
ELEMENTS = 12


class Instance(NamedTuple):
    costs: list[float]
    catches: list[int]


def count(elements: int) -> int:
    return elements.bit_count()


def total(costs: Sequence[float], chosen: Sequence[int]) -> Fraction:
    return sum((Fraction(costs[i]) for i in chosen), start=Fraction(0))


def union(catches: Sequence[int], chosen: Sequence[int]) -> int:
    covered = 0
    for i in chosen:
        covered |= catches[i]
    return covered


def optimum(costs: Sequence[float], catches: Sequence[int], budget: float, pins: Sequence[int] = ()) -> int:
    """The most that a selection with these pins can catch, by trying all of them."""
    free = [i for i in range(len(costs)) if i not in pins]
    room = Fraction(budget) - total(costs, pins)
    choices = (more for size in range(len(free) + 1) for more in itertools.combinations(free, size))
    return max(count(union(catches, (*pins, *more))) for more in choices if not more or total(costs, more) <= room)


def eager(costs: Sequence[float], catches: Sequence[int], budget: float) -> tuple[int, ...]:
    """Algorithm 1 line by line: every ratio anew in every step."""
    left, chosen, covered = set(range(len(costs))), [], 0

    def rank(i: int) -> tuple[float, int, int]:
        gain = count(catches[i] & ~covered)
        return (gain / costs[i] if costs[i] else math.inf if gain else 0.0), gain, -i

    while left:
        best = max(left, key=rank)
        if catches[best] & ~covered and total(costs, [*chosen, best]) <= budget:
            chosen.append(best)
            covered |= catches[best]
        left.remove(best)
    singles = [i for i in range(len(costs)) if costs[i] <= budget]
    single = max(singles, key=lambda i: (count(catches[i]), -costs[i], -i), default=None)
    if single is not None and count(catches[single]) > count(covered):
        return (single,)
    return tuple(chosen)


prices = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0, 1.5]), st.floats(0, 1.2))
candidates = st.tuples(
    prices,
    st.integers(0, 2**ELEMENTS - 1)
    | st.sets(st.integers(0, 11), max_size=3).map(lambda elements: sum(1 << element for element in elements)),
)
instances = st.lists(candidates, max_size=10).map(lambda pairs: Instance([c for c, _ in pairs], [s for _, s in pairs]))


@st.composite
def limited(draw: st.DrawFn) -> tuple[Instance, dict[str, Any]]:
    """An instance with groups, families inside them, a limit and pins."""
    instance = draw(instances)
    size = len(instance.costs)
    families = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=size, max_size=size))
    pins = draw(st.lists(st.sampled_from(range(size)), max_size=2, unique=True)) if size else []
    limits = {"groups": [g for g, _ in families], "most": draw(st.integers(0, 3)), "exclusive": families, "taken": pins}
    return instance, limits


def agrees_with_itself(found: Selection, instance: Instance) -> bool:
    return (
        found.covered == union(instance.catches, found.chosen)
        and sum(found.gains) == count(found.covered)
        and len(found.gains) == len(found.chosen) == len(set(found.chosen))
        and found.cost == float(total(instance.costs, found.chosen))
    )


@given(instances)
def test_the_lazy_greedy_chooses_what_an_eager_one_chooses(instance: Instance) -> None:
    assert greedy(*instance, BUDGET).chosen == eager(*instance, BUDGET)


@given(instances)
def test_no_selection_catches_less_than_guaranteed(instance: Instance) -> None:
    best = optimum(*instance, BUDGET)
    assert count(greedy(*instance, BUDGET).covered) >= GUARANTEED * best
    assert GUARANTEED * best <= count(select(*instance, BUDGET).covered) <= best


@given(instances, st.floats(0, 2))
def test_the_budget_holds_exactly_and_the_figures_agree(instance: Instance, budget: float) -> None:
    for found in (greedy(*instance, budget), select(*instance, budget)):
        assert total(instance.costs, found.chosen) <= budget
        assert agrees_with_itself(found, instance)
        assert all(found.gains)


@given(instances)
def test_the_improvement_never_catches_less(instance: Instance) -> None:
    assert count(select(*instance, BUDGET).covered) >= count(greedy(*instance, BUDGET).covered)


@given(instances)
def test_nothing_chosen_is_redundant(instance: Instance) -> None:
    found = select(*instance, BUDGET)
    for one in found.chosen:
        assert union(instance.catches, [i for i in found.chosen if i != one]) != found.covered


@given(instances, st.data())
def test_pins_stay_and_the_guarantee_holds_beside_them(instance: Instance, data: st.DataObject) -> None:
    pins = data.draw(st.lists(st.sampled_from(range(len(instance.costs))), max_size=3)) if instance.costs else []
    found = select(*instance, BUDGET, taken=pins)
    unique = tuple(dict.fromkeys(pins))
    assert found.chosen[: len(unique)] == unique
    assert agrees_with_itself(found, instance)
    if total(instance.costs, unique) > BUDGET:
        assert found.chosen == unique
    else:
        assert found.cost <= BUDGET
        assert count(found.covered) >= GUARANTEED * optimum(*instance, BUDGET, unique)


@given(limited())
def test_limits_hold_for_all_but_the_pins(case: tuple[Instance, dict[str, Any]]) -> None:
    instance, limits = case
    found = select(*instance, BUDGET, **limits)
    pins = limits["taken"]
    assert found.chosen[: len(pins)] == tuple(pins)
    assert agrees_with_itself(found, instance)
    assert found.cost <= BUDGET or found.chosen == tuple(pins)
    for names, most in ((limits["groups"], limits["most"]), (limits["exclusive"], 1)):
        pinned = Counter(names[i] for i in pins)
        for name, size in Counter(names[i] for i in found.chosen).items():
            assert size <= max(most, pinned[name])


@given(limited())
def test_the_same_call_gives_the_same_selection(case: tuple[Instance, dict[str, Any]]) -> None:
    instance, limits = case
    assert select(*instance, BUDGET, **limits) == select(*instance, BUDGET, **limits)


def test_what_costs_nothing_comes_first_and_what_brings_nothing_never() -> None:
    found = select([0.1, 0.0, 0.0, 0.0], [0b1110, 0b0001, 0b0011, 0], budget=1.0)
    assert found == Selection(chosen=(2, 0), cost=0.1, covered=0b1111, gains=(2, 2))


def test_equal_ratios_go_to_the_larger_gain_and_then_to_the_first() -> None:
    assert greedy([1.0, 2.0, 2.0], [0b1, 0b110, 0b11000], budget=2.0).chosen == (1,)


def test_what_does_not_fit_is_skipped_and_smaller_ones_still_come() -> None:
    assert greedy([1.0, 5.0, 2.0], [0b1111, 0b111110000, 0b1 << 9], budget=3.0).chosen == (0, 2)


def test_a_refund_is_spent() -> None:
    """The first is redundant after the next two; its cost buys the last."""
    costs, catches = [0.9, 1.5, 1.5, 1.0], [0b0000110, 0b0100011, 0b1001100, 0b0010000]
    assert greedy(costs, catches, budget=4.0).chosen == (0, 1, 2)
    assert select(costs, catches, budget=4.0).chosen == (1, 2, 3)


def test_a_narrower_band_takes_the_place_of_the_wider_and_pays_the_difference() -> None:
    bands = [0b0001, 0b0111, 0b1111]
    found = select([1.0, 2.0, 4.0], bands, budget=4.0, exclusive=["mean"] * 3)
    assert found == Selection(chosen=(2,), cost=4.0, covered=0b1111, gains=(4,))


def test_a_band_is_widened_where_others_catch_what_it_gives_up() -> None:
    """The narrow band is the best offer; once another catches most of it the wide one will do, and a third fits."""
    costs, catches = [1.0, 2.0, 2.4, 1.3], [0b000000001, 0b000111111, 0b011111110, 0b100000000]
    assert greedy(costs, catches, budget=4.8).chosen == (1, 2)
    assert select(costs, catches, budget=4.8, exclusive=["mean", "mean", "min", "max"]).chosen == (2, 0, 3)


def test_a_pin_keeps_its_family_and_counts_in_its_group() -> None:
    costs, catches = [0.1, 0.1, 0.1, 0.1], [0b1, 0b11, 0b100, 0b1000]
    assert select(costs, catches, 1.0, exclusive=["a", "a", "b", "c"], taken=[0]).chosen == (0, 2, 3)
    assert select(costs, catches, 1.0, groups=["x", "x", "x", "y"], most=2, taken=[0]).chosen == (0, 1, 3)


def test_a_full_group_still_takes_a_narrower_band_of_its_own() -> None:
    costs, catches = [0.1, 0.5], [0b1, 0b11]
    assert select(costs, catches, 1.0, groups=["x", "x"], most=1, exclusive=["m", "m"]).chosen == (1,)


def test_pins_beyond_the_budget_leave_room_for_nothing_even_what_is_free() -> None:
    assert select([2.0, 0.0], [0b1, 0b10], budget=1.0, taken=[0]).chosen == (0,)


def test_the_sum_of_many_small_costs_does_not_drift_over_the_budget() -> None:
    costs = [0.1] * 10
    assert sum(costs) < 1.0 < total(costs, range(10))
    assert len(greedy(costs, [1 << i for i in range(10)], budget=1.0).chosen) == 9


def test_of_nothing_nothing_is_chosen() -> None:
    assert select([], [], 1.0) == greedy([], [], 1.0) == Selection((), 0.0, 0, ())


@pytest.mark.parametrize(
    ("costs", "catches", "budget", "limits"),
    [
        ([1.0], [1, 2], 1.0, {}),
        ([1.0], [1], 1.0, {"groups": ["a", "b"], "most": 1}),
        ([math.nan], [1], 1.0, {}),
        ([-1.0], [1], 1.0, {}),
        ([1.0], [1], math.inf, {}),
        ([1.0], [1], -1.0, {}),
        ([1.0], [-1], 1.0, {}),
        ([1.0], [1], 1.0, {"most": 1}),
        ([1.0], [1], 1.0, {"taken": [1]}),
        ([1.0], [1], 1.0, {"taken": [-1]}),
    ],
)
def test_what_is_no_problem_of_selection_is_refused(
    costs: list[float], catches: list[int], budget: float, limits: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="no selection"):
        select(costs, catches, budget, **limits)


def drawn(rng: random.Random) -> Instance:
    """A small instance of one of several kinds: sparse or dense sets, costs that do or do not follow size."""
    size, density, follows = rng.randint(3, 10), rng.choice([0.1, 0.25, 0.5]), rng.random() < 0.5
    catches = [sum(1 << e for e in range(ELEMENTS) if rng.random() < density) for _ in range(size)]
    scale = rng.choice([0.3, 0.6, 1.1])
    costs = [0.0 if rng.random() < 0.03 else scale * rng.uniform(0.1, 1) for _ in range(size)]
    if follows:
        costs = [
            cost * (count(caught) + 1) / (density * ELEMENTS + 1) for cost, caught in zip(costs, catches, strict=True)
        ]
    return Instance(costs, catches)


def measured(instances: int, seed: int = 0) -> dict[str, list[float]]:
    """What share of the optimum each way catches, on random instances where something can be caught."""
    rng = random.Random(seed)
    ratios: dict[str, list[float]] = {"greedy": [], "improved": []}
    while len(ratios["greedy"]) < instances:
        instance = drawn(rng)
        if best := optimum(*instance, BUDGET):
            ratios["greedy"].append(count(greedy(*instance, BUDGET).covered) / best)
            ratios["improved"].append(count(select(*instance, BUDGET).covered) / best)
    return ratios


def test_on_random_instances_the_selection_is_near_the_best() -> None:
    ratios = measured(instances=200)
    assert min(ratios["improved"]) >= 0.6
    assert sum(ratios["improved"]) / 200 > 0.97
    assert sum(ratios["improved"]) >= sum(ratios["greedy"])


if __name__ == "__main__":
    for way, shares in measured(instances=2_000).items():
        exact = sum(share == 1 for share in shares) / len(shares)
        print(f"{way:9} mean {sum(shares) / len(shares):.4f}  worst {min(shares):.4f}  optimal in {exact:.1%}")

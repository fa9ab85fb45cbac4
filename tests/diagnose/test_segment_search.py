"""The segment that a fault is in, found among columns that differ by nature and go together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from msgspec.structs import replace

from headgate.diagnose.segment_search import FoundSegment, SegmentQuery, find_segment, split_bins
from headgate.engine.segment_counts import count_segments
from headgate.engine.segment_plan import SegmentColumn, Target
from headgate.metrics.states.quantiles import Quantiles

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

DRAWS = 50
COLUMNS = ("carrier", "origin", "region", "channel", "weekday", "cabin", "refunded")
PAGES = ("Home", "Cart", "Checkout", "Search", "Help")


class World:
    """Flights. Carriers have hubs and lengths of their own, origins lie in regions, nulls are commoner for some."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        draw = self.chance
        self.carriers, self.origins = int(draw.integers(5, 15)), int(draw.integers(12, 30))
        self.carrier_weights = draw.dirichlet(np.full(self.carriers, 2.0))
        self.hubs = draw.integers(0, self.origins, self.carriers)
        self.loyalty = draw.uniform(0.5, 0.95)
        self.regions = draw.integers(0, 4, self.origins)
        self.carrier_effect = draw.normal(0, 0.4, self.carriers)
        self.origin_effect = draw.normal(0, 0.25, self.origins)
        self.null_rate = draw.beta(0.3, 6.0, self.carriers)
        self.pages = draw.dirichlet(np.full(len(PAGES), 3.0), self.carriers)

    def table(self, rows: int) -> dict[str, npt.NDArray[Any]]:
        draw = self.chance
        carrier = draw.choice(self.carriers, rows, p=self.carrier_weights)
        at_hub = draw.random(rows) < self.loyalty
        origin = np.where(at_hub, self.hubs[carrier], draw.integers(0, self.origins, rows))
        effect = self.carrier_effect[carrier] + self.origin_effect[origin]
        distance = np.round(np.exp(6.3 + effect + draw.normal(0, 0.6, rows)))
        distance[draw.random(rows) < self.null_rate[carrier]] = np.nan
        page = (draw.random(rows)[:, None] > self.pages[carrier].cumsum(1)[:, :-1]).sum(1)
        return {
            "carrier": np.char.add("C", carrier.astype(str)),
            "origin": np.char.add("O", origin.astype(str)),
            "region": np.char.add("R", self.regions[origin].astype(str)),
            "channel": np.array(["web", "app", "desk"])[draw.choice(3, rows, p=[0.6, 0.3, 0.1])],
            "weekday": draw.integers(0, 7, rows),
            "cabin": np.array(["eco", "biz"])[(draw.random(rows) < 0.15).astype(int)],
            "refunded": draw.random(rows) < 0.05,
            "distance": distance,
            "page": np.array(PAGES)[page],
        }


class Draw(NamedTuple):
    """A good history, a batch with a fault in the rows `inside`, and the segment that they are."""

    good: dict[str, npt.NDArray[Any]]
    batch: dict[str, npt.NDArray[Any]]
    inside: Mask
    segment: tuple[tuple[str, str], ...]


def draw_batch(seed: int) -> Draw:
    world = World(seed)
    rows = int(world.chance.integers(2_000, 8_000))
    good, batch = world.table(20_000), world.table(rows)
    while True:
        column = str(world.chance.choice(COLUMNS))
        value = world.chance.choice(np.unique(batch[column]))
        inside = batch[column] == value
        if 0.03 <= inside.mean() <= 0.6:
            return Draw(good, batch, inside, ((column, str(value).lower() if column == "refunded" else str(value)),))


def choose_edges(values: Floats) -> Floats:
    known = values[~np.isnan(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, 33)).round())
    return np.r_[edges[0] - 0.5, edges[1:] + 0.5]


def share_bins(values: Floats, edges: Floats) -> Floats:
    nulls = np.isnan(values)
    state = Quantiles.of(values[~nulls])
    shares = np.diff(np.concatenate([[0.0], state.share_below(edges), [1.0]])) * (1.0 - nulls.mean())
    return np.concatenate([shares, [nulls.mean(), 0.0]])


def search(batch: dict[str, npt.NDArray[Any]], target: Target, query: SegmentQuery, **options: Any) -> Any:
    table = pa.table(
        {name: pa.array(values, from_pandas=True) for name, values in batch.items()}  # NaN is null
    )
    return find_segment(count_segments(table, [target], COLUMNS, **options), query)


def search_change(draw: Draw, change: Callable[[Floats], Floats], inside: Mask, **options: Any) -> FoundSegment | None:
    edges = choose_edges(draw.good["distance"])
    finer, keep, undo = split_bins(edges, change)
    changed = np.where(inside, change(draw.batch["distance"]), draw.batch["distance"])
    expected = share_bins(draw.good["distance"], edges)
    everywhere = share_bins(change(draw.good["distance"]), edges)
    query = SegmentQuery(0, expected, undo=undo, keep=keep, changed=everywhere)
    return search({**draw.batch, "distance": changed}, Target("distance", edges=tuple(finer)), query, **options)


def multiply(draw: Draw, inside: Mask) -> FoundSegment | None:
    factor = float(np.random.default_rng(len(inside)).choice([1.609, 0.3048, 100.0, 60.0, 2.205, 0.01]))
    return search_change(draw, lambda values: values * factor, inside)


def shift(draw: Draw, inside: Mask) -> FoundSegment | None:
    step = float(np.random.default_rng(len(inside)).choice([500.0, 3_600.0, -400.0, 273.15]))
    return search_change(draw, lambda values: values + step, inside)


def negate(draw: Draw, inside: Mask) -> FoundSegment | None:
    return search_change(draw, np.negative, inside)


def drop_values(draw: Draw, inside: Mask) -> FoundSegment | None:
    edges = choose_edges(draw.good["distance"])
    changed = np.where(inside, np.nan, draw.batch["distance"])
    target = Target("distance", edges=tuple(edges))
    affected = np.arange(target.bins) == target.null_bin
    query = SegmentQuery(0, share_bins(draw.good["distance"], edges), affected=affected)
    return search({**draw.batch, "distance": changed}, target, query)


def place_zero(draw: Draw, inside: Mask) -> FoundSegment | None:
    changed = np.where(inside & ~np.isnan(draw.batch["distance"]), 0.0, draw.batch["distance"])
    target = Target("distance", edges=(0.0, float(np.nextafter(0.0, 1.0))))
    bins = np.arange(target.bins)
    expected = share_bins(draw.good["distance"], np.array(target.edges))
    query = SegmentQuery(0, expected, affected=bins == 1, neutral=bins == target.null_bin)
    return search({**draw.batch, "distance": changed}, target, query)


def raise_case(draw: Draw, inside: Mask) -> FoundSegment | None:
    changed = np.where(inside, np.char.upper(draw.batch["page"]), draw.batch["page"])
    target = Target("page", labels=(*PAGES, *(page.upper() for page in PAGES)))
    shares = [(draw.good["page"] == page).mean() for page in PAGES]
    expected = np.array([*shares, *([0.0] * (len(PAGES) + 2))])
    affected = np.arange(target.bins) >= len(PAGES)
    affected[len(target.labels) :] = False
    return search({**draw.batch, "page": changed}, target, SegmentQuery(0, expected, affected=affected))


FAULTS = {
    "multiplied": multiply,
    "shifted": shift,
    "negated": negate,
    "nulls": drop_values,
    "placeholder": place_zero,
    "casing": raise_case,
}
FLOORS = {"multiplied": 0.86, "shifted": 0.9, "negated": 0.9, "nulls": 0.9, "placeholder": 0.9, "casing": 0.9}


def is_right(draw: Draw, found: FoundSegment | None) -> bool:
    return found is not None and found.segment == draw.segment


@pytest.mark.parametrize("name", FAULTS)
def test_the_segment_of_random_batches_is_exactly_right(name: str) -> None:
    draws = [draw_batch(seed) for seed in range(DRAWS)]
    right = np.mean([is_right(draw, FAULTS[name](draw, draw.inside)) for draw in draws])
    assert right >= FLOORS[name]


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8, 1.0])
def test_a_fault_that_is_spread_over_the_rows_has_no_segment(name: str, share: float) -> None:
    named = 0
    for seed in range(100, 110):
        draw = draw_batch(seed)
        spread = np.random.default_rng(seed).random(len(draw.inside)) < share
        named += FAULTS[name](draw, spread) is not None
    assert named <= 1


HIT = Target("hit", edges=(0.5,))
QUERY = SegmentQuery(0, np.array([0.98, 0.02, 0.0, 0.0]), affected=np.array([False, True, False, False]))


def search_hits(
    hit: Mask, by: list[str | SegmentColumn], pairs: list[tuple[str, str]] | None = None, **columns: Any
) -> FoundSegment | None:
    by_nature = np.random.default_rng(2).random(len(hit)) < 0.02
    table = pa.table({**columns, "hit": (hit | by_nature).astype(float)})
    return find_segment(count_segments(table, [HIT], by, pairs=pairs or []), QUERY)


def draw_letters(count: int, rows: int, seed: int) -> npt.NDArray[Any]:
    return np.array(list("ABCDEFGHIJKLMNOP"))[np.random.default_rng(seed).integers(0, count, rows)]


def test_a_found_segment_says_how_much_it_explains() -> None:
    carrier = draw_letters(8, 4_000, 1)
    found = search_hits(carrier == "C", ["carrier"], carrier=carrier)
    assert found is not None
    assert found.segment == (("carrier", "C"),)
    assert found.share == np.mean(carrier == "C")
    assert found.rate_inside == 1.0
    assert 0.01 < found.rate_outside < 0.03
    assert 0.9 < found.explained < 1.1


def test_a_few_values_are_named_if_one_does_not_explain_it() -> None:
    carrier = draw_letters(10, 4_000, 1)
    found = search_hits(np.isin(carrier, ["B", "F"]), ["carrier"], carrier=carrier)
    assert found is not None
    assert sorted(found.segment) == [("carrier", "B"), ("carrier", "F")]


def test_a_pair_is_named_if_no_column_explains_it() -> None:
    carrier, origin = draw_letters(6, 6_000, 1), draw_letters(5, 6_000, 2)
    columns = {"carrier": carrier, "origin": origin}
    both = search_hits((carrier == "B") & (origin == "A"), ["carrier", "origin"], [("carrier", "origin")], **columns)
    assert both is not None
    assert both.segment == (("carrier", "B"), ("origin", "A"))
    one = search_hits(carrier == "B", ["carrier", "origin"], [("carrier", "origin")], **columns)
    assert one is not None
    assert one.segment == (("carrier", "B"),)


def test_of_columns_that_say_the_same_the_first_is_named_and_the_other_beside_it() -> None:
    code = draw_letters(8, 3_000, 1)
    found = search_hits(code == "D", ["code", "name"], code=code, name=np.char.add("Carrier ", code))
    assert found is not None
    assert found.segment == (("code", "D"),)
    assert found.also == ((("name", "Carrier D"),),)


def test_nulls_of_a_segment_column_are_a_segment() -> None:
    origin = np.where(np.random.default_rng(1).random(3_000) < 0.2, None, draw_letters(5, 3_000, 2))
    hit = np.array([each is None for each in origin])
    found = search_hits(hit, ["origin"], origin=origin)
    assert found is not None
    assert found.segment == (("origin", None),)


def test_the_hours_since_which_it_happens_are_named() -> None:
    minutes = np.random.default_rng(1).integers(0, 24 * 60, 5_000)
    at = np.datetime64("2026-11-14T00:00", "us") + minutes.astype("timedelta64[m]")
    found = search_hits(minutes >= 15 * 60, [SegmentColumn("at", "hour"), "day"], at=at, day=minutes % 7)
    assert found is not None
    assert found.segment == tuple(("hour of at", f"2026-11-14 {hour}:00") for hour in range(15, 24))


def test_what_is_null_by_nature_is_not_the_segment_of_new_nulls() -> None:
    kind, carrier = draw_letters(2, 5_000, 1), draw_letters(6, 5_000, 2)
    hit = (kind == "A") | (carrier == "C")
    table = pa.table({"kind": kind, "carrier": carrier, "hit": hit.astype(float)})
    query = SegmentQuery(0, np.array([0.5, 0.5, 0.0, 0.0]), affected=QUERY.affected)
    found = find_segment(count_segments(table, [HIT], ["kind", "carrier"]), query)
    assert found is None or found.segment == (("carrier", "C"),)


def test_the_history_of_segments_tells_a_natural_difference_from_a_fault() -> None:
    chance, carrier = np.random.default_rng(5), draw_letters(5, 3_000, 1)
    scale = np.where(carrier == "E", 1.6, 1.0)  # E flies far
    values = 100 * scale * chance.lognormal(0, 0.4, 3_000)
    edges = np.quantile(values, np.linspace(0, 1, 25))
    finer, keep, undo = split_bins(edges, lambda each: each * 1.6)
    column = SegmentColumn("carrier")
    history = {(column, name): share_bins(values[carrier == name], edges) for name in "ABCDE"}

    def expect_segment(of: SegmentColumn, name: str | None) -> Floats | None:
        return history.get((of, str(name)))

    query = SegmentQuery(0, share_bins(values, edges), undo=undo, keep=keep, expect_segment=expect_segment)
    table = pa.table({"carrier": carrier, "v": np.where(carrier == "B", values * 1.6, values)})
    found = find_segment(count_segments(table, [Target("v", edges=tuple(finer))], ["carrier"]), query)
    assert found is not None
    assert found.segment == (("carrier", "B"),)


def test_without_segments_there_is_none() -> None:
    assert search_hits(np.ones(50, np.bool_), ["one"], one=np.ones(50)) is None
    assert find_segment(count_segments(pa.table({"hit": [0.0]}), [HIT], []), QUERY) is None


def test_a_fall_is_undone_without_loss() -> None:
    values = np.array([-3.0, 0.0, 0.5, 10.0, 11.0, 200.0])
    edges = np.array([0.0, 10.0, 100.0])
    finer, keep, undo = split_bins(edges, np.negative)
    before = np.searchsorted(edges, values, "right")
    assert undo[np.searchsorted(finer, -values, "right")].argmax(1).tolist() == before.tolist()
    assert keep[np.searchsorted(finer, values, "right")].argmax(1).tolist() == before.tolist()


@pytest.mark.filterwarnings("error")
def test_a_value_without_rows_that_tell_anything_is_no_segment_and_no_warning() -> None:
    values, carrier = np.random.default_rng(1).lognormal(3, 0.5, 2_000), draw_letters(4, 2_000, 2)
    edges = np.quantile(values, np.linspace(0, 1, 20))
    finer, keep, undo = split_bins(edges, lambda each: each * 3.0)
    query = SegmentQuery(0, share_bins(values, edges), undo=undo, keep=keep)
    table = pa.table({"carrier": carrier, "v": np.where(carrier == "B", values * 3.0, values)})
    counts = count_segments(table, [Target("v", edges=tuple(finer))], ["carrier"])
    every, by_carrier = counts.tables
    empty = [np.vstack([each, np.zeros_like(each[:1])]) for each in by_carrier.counts]
    by_carrier = replace(by_carrier, values=(*by_carrier.values, ("Z",)), counts=tuple(empty))
    found = find_segment(replace(counts, tables=(every, by_carrier)), query)
    assert found is not None
    assert found.segment == (("carrier", "B"),)


def test_the_segment_of_a_small_batch_is_told_by_the_rows_that_are_not_affected() -> None:
    count = 21
    names = np.array(["none"] * 7 + [f"v{at}" for at in range(count - 7)])
    columns = {"tests": names} | {f"c{at}": np.random.default_rng(at).choice(["a", "b", "c"], count) for at in range(5)}
    lost = names == "none"
    found = search_hits(lost, list(columns), **columns)
    assert found is not None
    assert found.segment == (("tests", "none"),)
    spread = np.random.default_rng(3).permutation(lost)
    assert search_hits(spread, list(columns), **columns) is None

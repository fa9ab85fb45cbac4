"""What learners see in a benchmark is hidden by default, as a store hides it, and plain only where asked for."""

from __future__ import annotations

import runpy
from pathlib import Path

import pyarrow as pa
import pytest

import headgate as hg
from benchmarks.history import columns, learners, series, tables
from benchmarks.history.feeds import Feed
from benchmarks.history.series import Batch
from benchmarks.novelty import fbposts, gates, retail_gate
from benchmarks.values_mode import SECRET, describe_values, hide_analysis, hide_states, open_memory
from headgate.learn.past import Past, numeric_values
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.key import MetricKey
from headgate.values.schema import Kind

ROOT = Path(__file__).resolve().parents[2]
MODE = ROOT / "benchmarks" / "values_mode.py"
PLAIN_STORES = {"report/pictures.py"}  # pictures show values; nothing is measured there
COUNTRY = MetricKey("frequent_values", ("country",))
FEED = Feed("made", "orders", Path())


def orders(day: int) -> hg.Analysis:
    return hg.analyze(pa.table({"country": ["DE", "FR", "US"] * 20 + ["IT"] * day, "price": range(60 + day)}))


@pytest.fixture
def feed(monkeypatch):
    batches = [Batch(f"2026-01-{day + 1:02}", orders(day)) for day in range(12)]
    monkeypatch.setattr(series, "analysed", lambda _: batches)
    cached = (series.read_recorded, tables.list_runs)
    monkeypatch.setattr(tables, "list_accounts", lambda _: {})
    monkeypatch.setattr(tables, "is_incident", lambda *_: False)
    for each in cached:
        each.cache_clear()
    yield FEED
    for each in cached:
        each.cache_clear()


def are_hidden(states) -> bool:
    return states[COUNTRY].hashed != "" and not {"DE", "FR", "US", "IT"} & states[COUNTRY].labels().keys()


def test_values_are_hidden_by_default_and_plain_where_the_environment_says_so(monkeypatch):
    monkeypatch.delenv("HEADGATE_VALUES", raising=False)
    assert runpy.run_path(str(MODE))["SECRET"]
    monkeypatch.setenv("HEADGATE_VALUES", "plain")
    plain = runpy.run_path(str(MODE))
    assert (plain["VALUES"], plain["SECRET"], plain["open_memory"]().secret) == ("plain", None, None)
    assert plain["hide_states"](orders(1).states) == orders(1).states


def test_hidden_states_name_no_value_and_the_numbers_measured_from_them_are_the_same():
    plain = orders(3)
    assert not are_hidden(plain.states)
    assert are_hidden(hide_states(plain.states))
    assert numeric_values(hide_analysis(plain).outcomes) == numeric_values(plain.outcomes)
    assert open_memory().secret is not None


def test_the_past_of_the_history_benchmark_is_hidden_and_hides_the_batch_that_it_judges(feed):
    past = tables.past_of(feed, 10, tables.runs_before(feed, 10, fewest=7))
    assert past.secret == SECRET
    assert are_hidden(past.states)
    assert are_hidden(past.merged)
    assert past.distances(orders(9).schema, orders(9).states)[MetricKey("value_l1", ("country",))].value == 0.0


def test_distances_of_columns_compare_hidden_labels(monkeypatch):
    compared: list[Frequencies] = []

    class Recording:
        name, state_key = "recording", COUNTRY

        def __init__(self, column: str) -> None: ...

        def between(self, now: Frequencies, before: Frequencies) -> hg.Undefined:
            compared.extend((now, before))
            return hg.Undefined("nothing is measured")

    monkeypatch.setattr(columns, "distances_for", lambda _: [Recording])
    columns.distances_to(Kind.STRING, "country", orders(1).states, orders(2).states)
    assert [are_hidden({COUNTRY: state}) for state in compared] == [True, True]


def test_the_programs_of_columns_are_trained_on_hidden_states(feed, monkeypatch):
    window = learners.Window("made", "country", learners.CATEGORICAL, ("2026-01-01",) * 60, (), *[None] * 4)
    seen = []
    monkeypatch.setattr(learners, "windows", lambda _: [window])
    monkeypatch.setattr(learners, "_scored", lambda *given: seen.append(given[4]))
    learners._on_feed(("headgate", feed, 30, 1))
    assert [are_hidden(states) for states in seen] == [True]


def test_the_novelty_of_posts_is_learned_from_hidden_states(monkeypatch):
    learned = []

    class Reached(Exception): ...

    def stop(past: Past, **_):
        learned.append(past)
        raise Reached

    made = [fbposts.Week(at + 1, *[pa.table({"country": ["DE", "FR"] * (at + 5)})] * 2) for at in range(9)]
    monkeypatch.setattr(fbposts, "weeks", lambda: made)
    monkeypatch.setattr(fbposts, "judged_weeks", lambda: made[8:])
    monkeypatch.setattr(fbposts.Novelty, "learn", stop)
    with pytest.raises(Reached):
        fbposts._novelty(hg.analyze, "headgate", None)
    assert are_hidden(learned[0].states)


def test_every_benchmark_that_judges_opens_its_store_in_the_mode_of_the_run():
    assert gates.open_memory is retail_gate.open_memory is open_memory
    judging = [file for file in (ROOT / "benchmarks").rglob("*.py") if "Gate(" in file.read_text(encoding="utf-8")]
    names = {str(file.relative_to(ROOT / "benchmarks")) for file in judging}
    assert {"gate/good_batches.py", "gate/year.py", "novelty/gates.py", "report/ours.py"} <= names
    for file in judging:
        name, text = str(file.relative_to(ROOT / "benchmarks")), file.read_text(encoding="utf-8")
        assert name in PLAIN_STORES or "from benchmarks.values_mode import" in text, name
        assert name in PLAIN_STORES or 'open_store("memory:")' not in text, name


def test_a_page_tells_the_mode_of_each_part_and_older_results_are_plain():
    said = describe_values({"columns": {"values": "hidden"}, "incidents": {}, "lengths": None}, "make it")
    assert "hidden values, as a store keeps them: columns." in said
    assert "plain values: incidents." in said
    assert "lengths" not in said

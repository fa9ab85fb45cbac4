"""The verdict as people and programs read it: the text at 3am, plain data, a notice, and the rows to blame."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pytest

from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.errors import MisuseError
from headgate.values.expectation import Status
from headgate.values.run import Decision
from tests.gate.orders import dearer, emptied, gate_after, judged, named, new_gate, orders, renamed, torn
from tests.pages import HOSTILE, Seen, assert_harmless, terminal

CHECK = Check("orders").is_complete("price").is_unique("id").has_size(at_most=1_000, level="warn")


def broken(day: int = 0) -> pa.Table:
    """The first tenth of the prices is missing."""
    return emptied(orders(day), "price", 0.1)


def fresh() -> BatchVerdict:
    return judged(new_gate(checks=CHECK), 0, broken())


# --- rows


def test_the_rows_to_blame_are_found_in_the_batch() -> None:
    rows = fresh().rows(broken())
    assert rows.num_rows == 13
    assert set(rows["price"].to_pylist()) == {None}
    assert rows["headgate_reasons"][0].as_py()[0]["rule"] == "is_complete(price)"


def test_a_batch_is_split_into_the_rows_that_break_nothing_and_those_that_do() -> None:
    verdict = fresh()
    good, bad = verdict.split(broken())
    assert verdict.can_split
    assert (good.num_rows, bad.num_rows) == (len(orders(0)) - 13, 13)
    assert good.column_names == orders(0).column_names


def test_a_batch_of_which_no_single_row_is_to_blame_does_not_split() -> None:
    check = CHECK.has_mean("price", at_most=1)
    assert not judged(new_gate(checks=check), 0, broken()).can_split
    assert not judged(new_gate(checks=CHECK), 0).can_split


def test_what_was_learned_of_a_column_finds_rows_too() -> None:
    table = emptied(orders(12), "price", 0.5)
    verdict = judged(gate_after(12), 12, table)
    assert any(each.expectation.metric.name == "completeness" for each in verdict.failures)
    assert set(verdict.rows(table)["price"].to_pylist()) == {None}


def test_how_many_rows_are_to_blame_is_told() -> None:
    assert "13 of 124 rows" in fresh().explain()


def test_a_verdict_from_the_history_has_no_rows_and_says_how_to_get_them() -> None:
    gate = new_gate(checks=CHECK)
    judged(gate, 0, broken(), fingerprint="snapshot 7")
    for told in (gate.explain(named(0)), judged(gate, 0, broken(), fingerprint="snapshot 7")):
        assert not told.can_split
        with pytest.raises(MisuseError, match="Judge the batch again"):
            told.rows(broken())
        with pytest.raises(MisuseError, match="Judge the batch again"):
            told.split(broken())


# --- in words


EARLY = """\
orders 2026-01-03 failed and was held: country is now named land; one more thing is wrong.
  1. country is now named land
     country is gone
     it was so in the last 2 runs; no accepted run did this
  2. price is 25.0% empty; expected at most 0.0%
     declared; 15 of 60 rows
     broken: price: mean 2,221 (22.27 to 24.25 in 2 runs; allowed 2 to 363), about 100 times as large
  warning: mean(price) is 2,221.11, expected within 5..50
  What changed: new column land (string); column country is gone; 60 rows, 125 in 2026-01-02 (-52%)
  Budget: 5.00% of good batches may be held, what was learned spends 1.84%; 0 of the last 2 runs were held.
  Learned: history: 20 expectations; learning, 2 of 7 runs that ranges take; patterns: 1 expectation from 2 runs; \
novelty: not yet: 2 accepted runs of 8 that it takes
  Owner: payments@
  Then: gate.accept('2026-01-03', number=1, note="why it is right")   # expected: teaches, and is published
        gate.release('2026-01-03', number=1, note="...")   # publish it as it is, learn nothing from it
        verdict.repair(df)   # wrong: land is named country again; judge the result
        gate.reject('2026-01-03', number=1, note="...")   # wrong: repair it and judge '2026-01-03' again"""


def test_the_verdict_at_three_in_the_morning() -> None:
    checks = Check("orders").is_complete("price").has_mean("price", between=(5, 50), level="warn")
    gate = gate_after(2, hide=False, checks=checks, owner="payments@")
    table = dearer(emptied(renamed(orders(2).slice(0, 60), "country", "land"), "price", 0.25))
    assert judged(gate, 2, table).explain() == EARLY


def test_what_was_learned_is_told_with_what_was_seen_what_it_was_and_how_rare_that_is() -> None:
    """Ranges and rates change with the evidence that comes with the package, so they are not spelled out here."""
    verdict = judged(gate_after(12), 12, dearer(emptied(orders(12), "quantity", 0.25)))
    told = verdict.explain()
    assert verdict.headline.endswith("failed and was held: quantity lost 25.6% of its values; one more thing is wrong.")
    assert "quantity is 25.6% empty (0.0% in 12 runs; allowed " in told
    assert "; 32 of 125 rows" in told
    assert "price is about 100 times as large: mean 2,369 (20.25 to 24.8 in 12 runs" in told
    assert re.search(r"a false alarm 1 in [\d,]+ runs; 32 of", told)
    assert "What changed: price: 100.0% are values never seen before" in told
    assert re.search(r"Learned: history: \d+ expectations from 12 runs; patterns: .+; novelty: .+", told)


def test_a_verdict_told_from_the_history_is_the_same() -> None:
    for days, table in ((12, dearer(orders(12))), (12, orders(12)), (12, renamed(orders(12), "code", "kode"))):
        gate = gate_after(days)
        first = judged(gate, days, table)
        later = gate.explain(named(days))
        assert later.explain() == first.explain()
        assert later.to_dict() == first.to_dict()


def test_the_history_tells_how_many_rows_are_to_blame_though_it_has_none() -> None:
    gate = new_gate(checks=CHECK)
    first, later = judged(gate, 0, broken()).explain(), gate.explain(named(0)).explain()
    assert "13 of 124 rows" in later
    assert first == later


HEADLINES = [
    (orders(0), "orders 2026-01-01 passed and was published."),
    (broken(), "orders 2026-01-01 failed and was held: one thing is wrong."),
    (
        pa.concat_tables([broken(), broken()]),
        "orders 2026-01-01 failed and was held: 2 things are wrong.",
    ),
    (orders(0).drop_columns(["price"]), "orders 2026-01-01 could not be judged in full and was held."),
]


@pytest.mark.parametrize(("table", "headline"), HEADLINES)
def test_the_first_sentence_says_what_became_of_the_batch(table: pa.Table, headline: str) -> None:
    verdict = judged(new_gate(checks=CHECK), 0, table)
    assert verdict.headline == headline
    assert verdict.explain().splitlines()[0] == headline


def test_at_most_three_causes_are_told_in_full() -> None:
    check = Check("orders")
    for column in ("id", "price", "quantity"):
        check = check.has_min(column, at_least=1e9).has_max(column, at_most=-1)
    verdict = judged(new_gate(checks=check), 0)
    assert len(verdict.causes) == 6
    assert "  3. " in verdict.explain()
    assert "  4. " not in verdict.explain()
    assert "... and 3 more: verdict.causes" in verdict.explain()
    assert "  ... and 3 more\n" in verdict.explain(commands="shell")


def test_what_can_be_done_is_told_only_where_something_is_to_be_done() -> None:
    assert any("gate.accept('2026-01-01'" in each for each in fresh().commands)
    assert "gate.release(" in fresh().explain()
    assert judged(new_gate(checks=CHECK), 0).commands == ()


def test_how_many_of_the_last_runs_were_held_is_told() -> None:
    gate = new_gate(checks=CHECK)
    judged(gate, 0)
    judged(gate, 1, broken(1))
    judged(gate, 2)
    assert "1 of the last 3 runs were held" in judged(gate, 3).explain()


def test_a_decision_of_a_person_is_told() -> None:
    gate = new_gate(checks=CHECK)
    judged(gate, 0, broken())
    gate.accept(named(0), who="ada", note="fine")
    told = gate.explain(named(0))
    assert told.headline == "orders 2026-01-01 was accepted by a person."
    assert (told.action, told.decision) == (Action.PUBLISH, Decision.ACCEPTED)


def test_a_verdict_shows_itself() -> None:
    verdict = fresh()
    assert repr(verdict) == verdict.explain()
    page = verdict._repr_html_()
    assert "failed and was held" in page
    assert page.index("fail") < page.index("pass")


def test_names_from_the_data_are_escaped_in_a_page() -> None:
    name = "<script>alert(1)</script>"
    table = renamed(broken(), "price", name)
    verdict = judged(new_gate(checks=Check("orders").is_complete(name)), 0, table)
    assert "<script>" not in verdict._repr_html_()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_only_text_wherever_they_are_shown(name: str) -> None:
    table = renamed(broken(), "price", name)
    short = name[:1_000]  # a run's names have at most so many characters, a column's may have more
    gate = Gate(short, store=MemoryStore(), checks=Check(name).is_complete(name), owner=name)
    verdict = gate.judge(table, short)
    assert verdict.causes
    for commands in ("python", "shell"):
        assert_harmless(verdict.page(commands))  # type: ignore[arg-type]


# --- in a shell, a terminal and a notebook


SHELL = """\
  Then: headgate rows orders 2026-01-01
          the rows that break a check
        headgate accept orders 2026-01-01 --revision 1 --note "why it is right"
          expected: teaches, and is published
        headgate release orders 2026-01-01 --revision 1 --note "..."
          publish it as it is, learn nothing from it
        headgate reject orders 2026-01-01 --revision 1 --note "..."
          wrong: it is to be repaired
        headgate run orders --partition 2026-01-01
          judge it again, when it is repaired"""


def test_what_to_do_is_told_for_a_shell_too() -> None:
    verdict = fresh()
    assert verdict.explain(commands="shell").endswith(SHELL)
    assert verdict.explain(commands="shell").splitlines()[:3] == verdict.explain().splitlines()[:3]
    assert verdict.shell_commands[0] == "headgate explain orders 2026-01-01"
    assert "\n".join(verdict.shell_commands[1:]) == "\n".join(SHELL.removeprefix("  Then: ").split("\n        ")[::2])
    assert judged(new_gate(checks=CHECK), 0).shell_commands == ()


def test_rows_are_offered_only_where_a_check_has_failed() -> None:
    learned = judged(gate_after(12), 12, dearer(orders(12)))
    assert learned.causes
    assert not any(" rows " in each for each in learned.shell_commands)
    assert any(" rows " in each for each in fresh().shell_commands)


def test_commands_of_no_language_are_refused() -> None:
    with pytest.raises(MisuseError, match='Write commands="python" or "shell"'):
        fresh().explain(commands="perl")  # type: ignore[arg-type]


LOOKS = [
    (orders(0), "PASS", "\x1b[1;30;42m"),
    (broken(), "FAIL", "\x1b[1;37;41m"),
    (orders(0).drop_columns(["price"]), "ERROR", "\x1b[1;30;43m"),
]


@pytest.mark.parametrize(("table", "word", "colour"), LOOKS)
def test_the_status_is_a_word_in_its_colour(table: pa.Table, word: str, colour: str) -> None:
    verdict = judged(new_gate(checks=CHECK), 0, table)
    assert terminal(verdict, colours=True).startswith(f"{colour} {word} \x1b[0m")
    assert terminal(verdict).startswith(f" {word}  {verdict.headline}")
    assert Seen(verdict._repr_html_()).said[:2] == [word, verdict.headline]


def test_a_notebook_has_the_causes_what_to_do_and_all_judgements_behind_a_fold() -> None:
    verdict = fresh()
    seen = Seen(verdict._repr_html_())
    assert verdict.causes[0].title in seen.said
    assert "gate.accept('2026-01-01', number=1, note=\"why it is right\")" in seen.said
    assert f"{len(verdict.judgements)} expectations judged" in seen.said
    assert seen.tags.count("tr") == 1 + len(verdict.judgements)


def test_a_person_s_decision_is_the_status() -> None:
    gate = new_gate(checks=CHECK)
    judged(gate, 0, broken())
    gate.reject(named(0), who="ada", note="no")
    assert terminal(gate.explain(named(0)), colours=True).startswith("\x1b[1;37;41m REJECTED ")


# --- as data


def test_a_wild_table_says_which_budget_its_limits_are_those_of() -> None:
    gate = gate_after(12, false_alarms=0.01)
    for day, table in ((12, dearer(orders(12))), (13, emptied(orders(13), "price"))):
        assert judged(gate, day, table).action is Action.HOLD
        gate.accept(named(day))
    verdict = judged(gate, 14, orders(14))
    assert verdict.account.working_budget is not None
    assert verdict.account.working_budget < 0.01
    assert "2 of 7 good ones were held, which is more, so limits are those of 0." in " ".join(verdict.explain().split())
    assert verdict.to_dict()["budget"]["working"] == verdict.account.working_budget


@pytest.mark.parametrize("day", [0, 12])
def test_a_verdict_is_json(day: int) -> None:
    checks = [CHECK, Check("parts", by="country").has_mean("price", at_most=1)]
    verdict = judged(gate_after(day, checks=checks), day, broken(day))
    told = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert told["status"] == "fail"
    assert told["action"] == "hold"
    assert told["decision"] == "held"
    assert told["partition"] == named(day)
    assert told["budget"] == {"false_alarms": 0.05, "spent": verdict.account.spent, "working": 0.05}
    assert len(told["judgements"]) == len(verdict.judgements)
    assert {each["status"] for each in told["judgements"]} >= {"pass", "fail"}
    assert told["causes"][0]["title"] == verdict.causes[0].title


def test_a_verdict_on_a_batch_that_could_not_be_read_is_json_too() -> None:
    told = json.loads(json.dumps(judged(new_gate(), 0, torn()).to_dict(), allow_nan=False))
    assert (told["status"], told["action"], told["causes"][0]["kind"]) == ("error", "hold", "unread")


# --- a notice


def test_a_notice_of_a_held_batch_says_why_and_what_to_do() -> None:
    verdict = judged(new_gate(checks=CHECK, owner="payments@"), 0, broken())
    notice = verdict.notification(at=1.0)
    assert (notice.kind, notice.status, notice.action) == ("held", Status.FAIL, Decision.HELD)
    assert (notice.headline, notice.owner, notice.at) == (verdict.headline, "payments@", 1.0)
    assert [each.title for each in notice.causes] == [each.title for each in verdict.causes]
    assert notice.causes[0].rarity == "declared"
    assert notice.commands == verdict.commands
    json.dumps(notice.to_dict())


KINDS = [
    ("guard", orders(1), "recovered", Decision.PUBLISHED),
    ("guard", broken(1), "held", Decision.HELD),
    ("guard", orders(1).drop_columns(["price"]), "error", Decision.HELD),
    ("observe", broken(1), "failing", Decision.PUBLISHED),
    ("observe", orders(1).drop_columns(["price"]), "error", Decision.PUBLISHED),
]


@pytest.mark.parametrize(("mode", "table", "kind", "action"), KINDS)
def test_the_kind_of_a_notice(mode: str, table: pa.Table, kind: str, action: Decision) -> None:
    gate = new_gate(checks=CHECK, mode=mode)
    judged(gate, 0)
    notice = judged(gate, 1, table).notification()
    assert (notice.kind, notice.action, notice.previous_status) == (kind, action, Status.PASS)


def test_a_notice_of_the_first_run_has_none_before_it() -> None:
    assert fresh().notification().previous_status is None


def test_a_batch_of_which_nothing_could_be_judged_is_not_called_good() -> None:
    check = Check("orders").has_mean("price", at_least=0).has_size(at_least=0, where="price > 1", level="warn")
    verdict = judged(new_gate(checks=check), 0, orders(0).slice(0, 0))
    assert verdict.action is Action.HOLD
    assert "passed" not in verdict.headline
    assert verdict.notification().kind != "recovered"


def test_a_misspelt_column_is_named_where_values_are_hidden_too() -> None:
    gate = new_gate(checks=Check("orders").is_complete("prise"), learn=[])
    assert gate.store.secret is not None
    judged(gate, 0)
    assert "names the column 'prise'" in gate.explain(named(0)).explain()
    assert "Did you mean 'price'?" in gate.explain(named(0)).explain()

"""The pages say what the verdict says, in the order of the person who was woken, and nothing else gets in."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.checks.check import Check
from headgate.display.table import Table
from headgate.gate.gate import Gate
from headgate.report.html import Report
from headgate.report.site import Site
from tests.gate.orders import (
    dearer,
    emptied,
    gate_after,
    judged,
    month,
    named,
    new_gate,
    orders,
    renamed,
    replaced,
    torn,
)

DAYS = 12
VOID = {"meta", "br", "input", "link", "img", "hr"}
UNCLOSED = {"tr", "td", "th", "li", "p"}


class Seen(HTMLParser):
    """The text of a page by its elements; tags that open must close."""

    def __init__(self, page: Report) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page.html)
        self.close()
        assert [each for each in self.stack if each not in UNCLOSED] == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.stack and self.stack[-1] != tag:
            assert self.stack.pop() in UNCLOSED, f"</{tag}> closes another"
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and self.stack and self.stack[-1] not in ("style", "script"):
            self.texts.append((self.stack[-1], " ".join(data.split())))

    def of(self, tag: str) -> list[str]:
        return [text for home, text in self.texts if home == tag]

    @property
    def text(self) -> str:
        return " ".join(text for _, text in self.texts)


def failed() -> tuple[Gate, hg.BatchVerdict]:
    gate = month()
    return gate, judged(gate, 30, dearer(emptied(orders(30), "quantity")))


def pages() -> dict[str, Report]:
    gate, verdict = failed()
    return {
        "pass": Report.of(gate, named(29)),
        "fail": Report.of(gate, verdict),
        "error": Report.of(gate, judged(gate, 32, torn())),
        "dataset": Report.of(gate),
        "fleet": Report.fleet([gate, new_gate()]),
    }


@pytest.fixture(scope="module")
def made() -> dict[str, Report]:
    return pages()


KINDS = ("pass", "fail", "error", "dataset", "fleet")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_html(made: dict[str, Report], kind: str) -> None:
    seen = Seen(made[kind])
    assert len(seen.of("h1")) == 1
    ids = [found["id"] for _, found in seen.attributes if "id" in found]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_lets_only_what_is_written_here_run(made: dict[str, Report], kind: str) -> None:
    text = made[kind].html
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy[1]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_comes_from_elsewhere(made: dict[str, Report], kind: str) -> None:
    text = re.sub(r"sha256-[A-Za-z0-9+/=]+", "", made[kind].html)  # in which anything may stand
    assert not re.search(r"(?:https?:)?//[a-z0-9]", text, re.IGNORECASE)
    for _, found in Seen(made[kind]).attributes:
        assert not {"src", "style", "srcset", "background"} & set(found)
        assert not any(name.startswith("on") for name in found)


def test_the_first_words_say_what_was_done_and_why(made: dict[str, Report]) -> None:
    _, verdict = failed()
    seen = Seen(made["fail"])
    said = [text for _, text in seen.texts]
    assert seen.of("h1") == [verdict.headline]
    titles = [each.title for each in verdict.causes]
    assert len(titles) == 2
    positions = [said.index(each) for each in (verdict.headline, *titles)]
    assert positions == sorted(positions)
    assert positions[-1] < 14


def test_every_cause_has_what_is_seen_what_was_expected_and_what_was_good(made: dict[str, Report]) -> None:
    terms = Seen(made["fail"]).of("dt")
    for word in ("Now", "Expected", "Last good", "How rare"):
        assert terms.count(word) == 2
    assert "Rows" in terms


def test_the_commands_are_there_to_copy(made: dict[str, Report]) -> None:
    _, verdict = failed()
    codes = Seen(made["fail"]).of("code")
    assert all(each in codes for each in verdict.shell_commands)
    assert f"headgate accept orders {named(30)}" in " ".join(codes)
    assert not any("headgate accept" in each for each in Seen(made["pass"]).of("code"))


def test_an_error_is_not_called_a_failure(made: dict[str, Report]) -> None:
    seen = Seen(made["error"])
    assert "could not be judged" in seen.of("h1")[0]
    assert "an error, not a failure of the data" in seen.text
    assert "OSError" in seen.text  # its message may hold values of the data, which this store hides


def test_columns_that_came_and_went_are_listed() -> None:
    gate = month()
    seen = Seen(Report.of(gate, judged(gate, 33, renamed(orders(33), "country", "nation"))))
    assert {"− gone", "+ new"} <= set(seen.of("td"))
    assert {"country", "nation"} <= set(seen.of("code"))


def test_a_batch_that_is_good_after_a_bad_one_says_so() -> None:
    gate = gate_after(DAYS)
    assert "Healthy again" not in Report.of(gate, named(DAYS - 1)).html
    judged(gate, DAYS, dearer(orders(DAYS)))
    assert "Healthy again: the batch before was not good." in Report.of(gate, judged(gate, DAYS + 1)).html


def test_what_a_person_decided_is_told_with_the_reason() -> None:
    gate = gate_after(DAYS)
    judged(gate, DAYS, dearer(orders(DAYS)))
    gate.accept(named(DAYS), note="new tariff <3", who="ann")
    text = Report.of(gate, named(DAYS)).html
    assert "new tariff &lt;3" in text
    assert "by ann" in text


def test_example_rows_are_shown_only_when_they_are_given(made: dict[str, Report]) -> None:
    gate, verdict = failed()
    examples = Table(("id", "why"), (("4711", "<i>empty"),))
    assert "Rows to look at" not in made["fail"].html
    shown = Report.of(gate, verdict, examples=examples).html
    assert "4711" in shown
    assert "&lt;i&gt;empty" in shown


def test_values_that_the_store_hides_are_not_on_the_page() -> None:
    for hide, there in ((True, False), (False, True)):
        gate = gate_after(DAYS, hide=hide, learn=["history"])
        wrong = emptied(orders(DAYS), "country", 0.5)
        assert ("<code>DE</code>" in Report.of(gate, judged(gate, DAYS, wrong)).html) is there


def test_a_check_by_segment_names_the_worst_segments() -> None:
    check = Check("orders").is_complete("price", by="country")
    gate = new_gate(checks=check)
    seen = Seen(Report.of(gate, judged(gate, 0, emptied(orders(0), "price", 0.1))))
    assert any(text.startswith("country=") for text in seen.of("li"))


def test_a_dataset_without_a_run_has_a_page() -> None:
    seen = Seen(Report.of(new_gate()))
    assert seen.of("h1") == ["orders has no run yet"]
    assert Seen(Report.fleet([])).of("h1") == ["No dataset yet"]


def test_the_page_of_a_dataset_draws_every_series_that_moved(made: dict[str, Report]) -> None:
    seen = Seen(made["dataset"])
    summaries = seen.of("summary")
    assert summaries[:2] == ["the table", "id"]
    assert {"price", "quantity", "country", "code"} <= set(summaries)
    assert "constant:" in seen.text
    lines = [found for tag, found in seen.attributes if tag == "svg" and found.get("class") == "spark"]
    assert len(lines) > 20


def test_batches_that_are_held_for_the_same_reason_are_shown_together() -> None:
    gate = gate_after(DAYS)
    for day in range(DAYS, DAYS + 3):
        verdict = judged(gate, day, dearer(orders(day)))
    first, last = named(DAYS), named(DAYS + 2)
    batch = Seen(Report.of(gate, verdict)).text
    assert f"{first} and {named(DAYS + 1)} were held for the same reason" in batch
    assert f'headgate accept orders {first}..{last} --note "why it is right"' in batch
    assert f"3 batches are held for the same reason: {first} to {last}." in Seen(Report.of(gate)).text
    assert "3 batches held for the same reason" in Seen(Report.fleet([gate])).text
    gate.reject(first)
    assert f"2 batches are held for the same reason: {named(DAYS + 1)} to {last}." in Seen(Report.of(gate)).text


def test_the_fleet_puts_what_needs_somebody_first() -> None:
    sick, well, new = gate_after(DAYS), gate_after(DAYS), new_gate()
    judged(sick, DAYS, dearer(orders(DAYS)))
    seen = Seen(Report.fleet([well, new, sick]))
    assert seen.of("h1") == ["1 batch waits for a decision"]
    states = [text for text in seen.of("td") if text in ("held", "published", "no run yet")]
    assert states == ["held", "published", "no run yet"]


def test_batches_that_wait_are_counted_though_the_newest_batch_is_good() -> None:
    gate, well = gate_after(DAYS), gate_after(DAYS)
    for day in range(DAYS, DAYS + 2):
        judged(gate, day, dearer(orders(day)))
    judged(gate, DAYS + 2)
    waiting = f"2 batches wait for a decision, the oldest is {named(DAYS)}."
    fleet = Seen(Report.fleet([well, gate]))
    assert fleet.of("h1") == ["2 batches wait for a decision"]
    assert "2 batches wait for a decision" in fleet.of("small")
    assert waiting in Seen(Report.of(gate)).text
    assert "wait for a decision" not in Seen(Report.of(well)).text
    judged(gate, DAYS, orders(DAYS))  # it was repaired
    gate.reject(named(DAYS + 1))
    assert Seen(Report.fleet([well, gate])).of("h1") == ["All 2 are healthy"]
    assert "wait for a decision" not in Seen(Report.of(gate)).text


def facts_of(gate: Gate, table: pa.Table) -> tuple[str, dict[str, str]]:
    """The title of the only cause of a batch, and its facts."""
    seen = Seen(Report.of(gate, judged(gate, DAYS, table)))
    return seen.of("h2")[0], dict(zip(seen.of("dt"), seen.of("dd"), strict=True))


def test_the_facts_speak_of_the_metric_in_the_title() -> None:
    title, facts = facts_of(gate_after(DAYS), dearer(orders(DAYS)))
    assert title.startswith("price looks multiplied by 100 ")
    assert (facts["How sure"].split(";")[0], facts["Repair"]) == ("100%", "price is divided by 100")
    assert facts["Now"].startswith("price: mean ")
    assert re.fullmatch(r"[\d.,]+ to [\d.,]+ in \d+ runs(; allowed .+)?", facts["Expected"])
    last = float(facts["Last good"].partition(" in ")[0].replace(",", ""))
    low, high = (float(each) for each in facts["Expected"].partition(" in ")[0].replace(",", "").split(" to "))
    assert low <= last <= high


@pytest.mark.parametrize(("hide", "name", "fault"), [(True, "1 value", "one value"), (False, "FR", "FR")])
def test_the_facts_speak_of_the_values_that_changed(hide: bool, name: str, fault: str) -> None:
    countries = ["DE" if each == "FR" else each for each in orders(DAYS)["country"].to_pylist()]
    title, facts = facts_of(gate_after(DAYS, hide=hide), replaced(orders(DAYS), "country", countries))
    assert re.fullmatch(rf"country: {fault} \([\d.]+%\) became {'one with another' if hide else 'DE'}", title)
    assert facts["Share of rows"] in title
    assert facts["Now"] == f"{name} 0.0%"
    assert re.fullmatch(rf"{name} [23]\d\.\d%, as in {DAYS} runs", facts["Expected"])
    assert re.fullmatch(rf"[23]\d\.\d% in {named(DAYS - 1)}", facts["Last good"])


def test_a_site_links_its_pages(tmp_path: Path) -> None:
    gate, verdict = failed()
    site = Site(tmp_path)
    batch, dataset, index = site.write_batch(gate, verdict), site.write_dataset(gate), site.write_fleet([gate])
    assert sorted(each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*.html")) == [
        "index.html",
        "orders.html",
        f"orders/{named(30)}.html",
    ]
    for page in (batch, dataset, index):
        for address in re.findall(r'<a href="([^"#]+)"', page.read_text()):
            assert (page.parent / address).resolve().exists()
    assert f'href="./orders/{named(30)}.html"' in dataset.read_text()


@pytest.mark.parametrize("name", ["../../etc", "a/b", "javascript:alert(1)", ".hidden", "x" * 900, "ü ñ\n"])
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    gate = Gate(name, store=hg.open_store("memory:"), learn=[])
    verdict = gate.judge(orders(0), partition=name)
    site = Site(tmp_path / "pages")
    written = [site.write_batch(gate, verdict), site.write_dataset(gate), site.write_fleet([gate])]
    assert all(tmp_path / "pages" in each.resolve().parents for each in written)
    assert all(
        address.startswith(("./", "../", "index.html", "#"))
        for each in written
        for address in re.findall(r'href="([^"]+)"', each.read_text())
    )


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "page.html"
    Report("old", "old").save(place)

    written = Path.write_text

    def full(path: Path, text: str, **given: Any) -> None:
        written(path, text[: len(text) // 2], **given)
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space left"):
        Report("new", "new").save(place)
    monkeypatch.undo()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(made: dict[str, Report]) -> None:
    frame = made["fail"]._repr_html_()
    assert frame.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in frame
    assert "<script" not in frame


@pytest.mark.parametrize(
    ("check", "now", "expected"),
    [
        (Check("orders").is_complete("price"), "price: empty 10.5%", "none"),
        (Check("orders").has_completeness("price", at_least=0.95), "price: empty 10.5%", "at most 5.0%"),
        (Check("orders").is_contained_in("country", ["DE", "FR"]), "rows that meet is_contained_in(country,", "all"),
        (Check("orders").has_mean("price", at_most=1), "price: mean ", "at most 1"),
        (Check("orders").has_size(between=(1, 5)), "rows 124", "1 to 5"),
    ],
)
def test_what_is_seen_and_what_was_expected_are_told_in_the_same_words(check: Check, now: str, expected: str) -> None:
    gate = new_gate(checks=check, learn=[])
    facts = Seen(Report.of(gate, judged(gate, 0, emptied(orders(0), "price", 0.1)))).of("dd")
    assert facts[0].startswith(now)
    assert facts[1] == expected

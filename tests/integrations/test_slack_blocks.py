"""A message for Slack stays inside Slack's limits and holds nothing that Slack acts on, whatever is in a notice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.gate.notification import Notification, NotificationCause
from headgate.integrations.alerts.blocks import clean_line, fit_text, make_message
from tests.integrations.receiver import FULL, notice

LIMITS = {"header": 150, "section": 3_000, "field": 2_000, "context": 2_000}
HOSTILE = [
    "<script>alert(1)</script>",
    "<!channel> <!here> <@U123> <https://evil.example|click>",
    "```\n<!everyone>\n```",
    "a\x00b\r\n\u2028c\u202edcba\ud800",
    "&lt; &amp;amp;",
    "*bold* _it_ ~no~ `code`",
    "x" * 5_000,
    "&" * 5_000,
    "😀" * 5_000,
    "",
    "   \n",
]


def width(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def texts(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for block in content["blocks"]:
        if "text" in block:
            yield block["type"], block["text"]
        for field in block.get("fields", []):
            yield "field", field
        for element in block.get("elements", []):
            yield "context", element


def check(content: dict[str, Any], link: str | None = None) -> None:
    assert 1 <= len(content["blocks"]) <= 50
    assert 1 <= width(content["text"]) <= 3_000
    for block in content["blocks"]:
        assert block["type"] in {"header", "section", "context"}
        assert 1 <= len(block.get("fields", [0])) <= 10
        assert 1 <= len(block.get("elements", [0])) <= 10
    for place, each in texts(content):
        assert 1 <= width(each["text"]) <= LIMITS[place], place
        assert each["type"] == ("mrkdwn" if each.get("verbatim") else "plain_text")
        is_link = link is not None and each["text"].startswith("<")
        assert is_link or not set("<>") & set(each["text"])
        assert re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", each["text"])
        assert all(char.isprintable() or char == "\n" for char in each["text"])


def hostile(text: str) -> Notification:
    return notice(
        text,
        dataset=text,
        headline=text,
        causes=tuple(NotificationCause(text, text, text) for _ in range(200)),
        owner=text,
        commands=(text,) * 200,
        changed=(text,) * 200,
        link=text,
    )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["held", "recovered", "failing", "error", "drift"])
def test_any_notice_stays_within_the_limits(text: str, kind: str) -> None:
    given = hostile(text)
    check(
        make_message(Notification(**{name: getattr(given, name) for name in given.__struct_fields__} | {"kind": kind}))
    )


@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=400))
def test_any_text_stays_within_the_limits(text: str) -> None:
    check(make_message(hostile(text)))


def test_the_usual_notice_stays_within_the_limits() -> None:
    check(make_message(FULL), link=FULL.link)


def test_of_200_causes_three_are_shown_and_the_rest_is_counted() -> None:
    content = make_message(hostile("a cause"))
    (fields,) = [block["fields"] for block in content["blocks"] if "fields" in block]
    assert len(fields) == 3
    assert any(each["text"] == "and 197 more causes" for _, each in texts(content))


def test_a_command_cannot_end_its_code_block() -> None:
    content = make_message(notice(commands=("echo ``` <!channel> ````",)))
    (code,) = [each["text"] for _, each in texts(content) if each["text"].startswith("```")]
    assert code.count("```") == 2
    assert code.endswith("\n```")


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "https://a|b", "https://a> <!channel", "data:text/html,x", "https://a\nb", "", "x" * 9_000],
)
def test_what_is_no_plain_web_address_is_no_link(link: str) -> None:
    assert make_message(notice(link=link)) == make_message(notice(link=None))


def test_a_notice_with_nothing_but_a_name_has_three_blocks() -> None:
    content = make_message(notice(headline=""))
    assert [block["type"] for block in content["blocks"]] == ["header", "section", "context"]
    assert content["text"] == "Held: orders 2026-11-14"


@given(st.text("ab&<>😀", max_size=60), st.integers(6, 60))
def test_a_text_is_cut_only_where_it_must_be(text: str, most: int) -> None:
    cut, whole = fit_text(text, most), text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert (cut == whole) == (width(whole) <= most)
    assert width(cut) <= most
    assert cut == whole or (cut.endswith("…") and whole.startswith(cut[:-1]))


def test_a_line_has_no_breaks() -> None:
    assert clean_line(" a\r\n\tb\u2028c ") == "a b c"

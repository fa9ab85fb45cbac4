"""A notification as a message of Slack's Block Kit, within its limits, with all of Slack's markup escaped.

Slack's limits are 150 characters in a header, 3,000 in a section, 2,000 in a field; 10 fields, 50 blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from headgate.display.numbers import format_moment
from headgate.gate.notification import Notification, NotificationCause

Block: TypeAlias = dict[str, Any]

HEADER, SECTION, FIELD = 150, 3_000, 2_000  # characters
CAUSES = 3  # causes that a message shows
LINES = 5  # lines of changes, and of commands

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TITLES = {
    "held": "Held",
    "recovered": "Healthy again",
    "failing": "Failing, published",
    "error": "Could not be judged",
    "drift": "Drift",
}


def make_message(notification: Notification) -> dict[str, Any]:
    """The payload of a message: the blocks, and the text that clients without blocks show."""
    title = f"{_TITLES[notification.kind]}: {notification.dataset} {notification.partition}"
    headline = notification.headline if clean_line(notification.headline) else title
    blocks = [
        {"type": "header", "text": _plain_text(title, HEADER)},
        {"type": "section", "text": _plain_text(headline, SECTION)},
        *_cause_blocks(notification.causes),
        *_change_blocks(notification.changed),
        *_command_blocks(notification.commands),
        *_link_blocks(notification.link),
        {"type": "context", "elements": [_plain_text(_format_footer(notification), FIELD)]},
    ]
    return {"text": fit_text(clean_line(headline), SECTION), "blocks": blocks}


def fit_text(text: str, most: int) -> str:
    """The text with Slack's three control characters escaped, cut to at most `most` characters.

    >>> fit_text("a < b", 50), fit_text("a & b", 5), fit_text("<!channel>", 9)
    ('a &lt; b', 'a …', '&lt;!cha…')
    """
    kept: list[str] = []
    room = most
    for index, char in enumerate(text):
        escaped = _ENTITIES.get(char, char)
        size = _size_of(escaped)
        is_last = index == len(text) - 1
        if size + (0 if is_last else 1) > room:
            return "".join([*kept, "…"])
        kept.append(escaped)
        room -= size
    return "".join(kept)


def clean_line(text: str) -> str:
    """The text as one line, without control characters, bidirectional overrides and lone surrogates.

    >>> clean_line("a\\n b\\u202e\\x00c")
    'a b c'
    """
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _size_of(text: str) -> int:
    """The length in UTF-16 code units, in which Slack counts: an emoji is two."""
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def _cause_blocks(causes: Sequence[NotificationCause]) -> Iterable[Block]:
    if not causes:
        return
    yield {"type": "section", "fields": [_cause_field(each) for each in causes[:CAUSES]]}
    if len(causes) > CAUSES:
        yield {"type": "context", "elements": [_plain_text(f"and {len(causes) - CAUSES:,} more causes", FIELD)]}


def _cause_field(cause: NotificationCause) -> Block:
    title = fit_text(clean_line(cause.title) or "cause", 300)
    rarity = fit_text(clean_line(cause.rarity), 200)
    rest = fit_text(clean_line(cause.detail), FIELD - 510)
    return _markdown_text("\n".join(part for part in (title if "*" in title else f"*{title}*", rest, rarity) if part))


def _change_blocks(changed: Sequence[str]) -> Iterable[Block]:
    if changed:
        shown = [f"• {fit_text(clean_line(each), 500)}" for each in changed[:LINES]]
        yield {"type": "section", "text": _markdown_text("\n".join(["*What changed*", *shown, *_count_rest(changed)]))}


def _command_blocks(commands: Sequence[str]) -> Iterable[Block]:
    """The commands in a code block; backticks are replaced, so that no command can end it."""
    if commands:
        shown = [fit_text(clean_line(each).replace("```", "'''"), 500) for each in commands[:LINES]]
        yield {"type": "section", "text": _markdown_text("\n".join(["```", *shown, "```", *_count_rest(commands)]))}


def _count_rest(lines: Sequence[str]) -> Iterable[str]:
    if len(lines) > LINES:
        yield f"and {len(lines) - LINES:,} more"


def _link_blocks(link: str | None) -> Iterable[Block]:
    """The link to the report; left out if it is no web address, or contains a character that could end it early."""
    is_safe = link is not None and link.startswith(("https://", "http://")) and not set(link) & set("|<>\"'` \n")
    if link is not None and is_safe and link.isprintable() and len(link) < 2_000:
        yield {"type": "section", "text": _markdown_text(f"<{link.replace('&', '&amp;')}|Open the report>")}


def _format_footer(notification: Notification) -> str:
    owner = f"owner {notification.owner} · " if notification.owner else ""
    since = f" (before: {notification.previous_status})" if notification.previous_status else ""
    when = format_moment(notification.at, whole_days=False)
    what = f"status {notification.status}{since} · {notification.action} · revision {notification.revision}"
    return f"{owner}{what} · {when} UTC"


def _plain_text(text: str, most: int) -> Block:
    return {"type": "plain_text", "text": fit_text(clean_line(text), most), "emoji": False}


def _markdown_text(text: str) -> Block:
    """Text with Slack's markup. `verbatim` keeps Slack from turning names and addresses into links and mentions."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}

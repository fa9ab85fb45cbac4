"""A notice as a message of Slack's Block Kit, within its limits, with nothing in it that Slack would act on.

The limits are Slack's: 150 characters of a header, 3,000 of a section, 2,000 of a field; 10 fields, 50 blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from headgate.display.numbers import shown_moment
from headgate.gate.notification import Notice, NoticeCause

Block: TypeAlias = dict[str, Any]

HEADER, SECTION, FIELD = 150, 3_000, 2_000
CAUSES = 3  # not forty symptoms
LINES = 5  # of what changed, and of commands

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TITLES = {
    "held": "Held",
    "recovered": "Healthy again",
    "failing": "Failing, published",
    "error": "Could not be judged",
}


def message(notice: Notice) -> dict[str, Any]:
    """The blocks, and the text that a notification shows in their place."""
    title = f"{_TITLES[notice.kind]}: {notice.dataset} {notice.partition}"
    said = notice.headline if line(notice.headline) else title
    blocks = [
        {"type": "header", "text": _plain(title, HEADER)},
        {"type": "section", "text": _plain(said, SECTION)},
        *_causes(notice.causes),
        *_changed(notice.changed),
        *_commands(notice.commands),
        *_link(notice.link),
        {"type": "context", "elements": [_plain(_footer(notice), FIELD)]},
    ]
    return {"text": fitted(line(said), SECTION), "blocks": blocks}


def fitted(text: str, most: int) -> str:
    """The text with Slack's three control characters escaped, cut so that it takes at most `most` characters.

    >>> fitted("a < b", 50), fitted("a & b", 5), fitted("<!channel>", 9)
    ('a &lt; b', 'a …', '&lt;!cha…')
    """
    kept: list[str] = []
    room = most
    for at, char in enumerate(text):
        written = _ENTITIES.get(char, char)
        size = _size(written)
        is_last = at == len(text) - 1
        if size + (0 if is_last else 1) > room:
            return "".join([*kept, "…"])
        kept.append(written)
        room -= size
    return "".join(kept)


def line(text: str) -> str:
    """One line without control characters, overrides of direction and halves of characters.

    >>> line("a\\n b\\u202e\\x00c")
    'a b c'
    """
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _size(text: str) -> int:
    """Characters as JavaScript counts them: an emoji is two."""
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def _causes(causes: Sequence[NoticeCause]) -> Iterable[Block]:
    if not causes:
        return
    yield {"type": "section", "fields": [_cause(each) for each in causes[:CAUSES]]}
    if len(causes) > CAUSES:
        yield {"type": "context", "elements": [_plain(f"and {len(causes) - CAUSES:,} more causes", FIELD)]}


def _cause(cause: NoticeCause) -> Block:
    title = fitted(line(cause.title) or "cause", 300)
    rarity = fitted(line(cause.rarity), 200)
    rest = fitted(line(cause.detail), FIELD - 510)
    return _marked("\n".join(part for part in (title if "*" in title else f"*{title}*", rest, rarity) if part))


def _changed(changed: Sequence[str]) -> Iterable[Block]:
    if changed:
        shown = [f"• {fitted(line(each), 500)}" for each in changed[:LINES]]
        yield {"type": "section", "text": _marked("\n".join(["*What changed*", *shown, *_rest(changed)]))}


def _commands(commands: Sequence[str]) -> Iterable[Block]:
    """To copy, in a code block that no command can end."""
    if commands:
        shown = [fitted(line(each).replace("```", "'''"), 500) for each in commands[:LINES]]
        yield {"type": "section", "text": _marked("\n".join(["```", *shown, "```", *_rest(commands)]))}


def _rest(lines: Sequence[str]) -> Iterable[str]:
    if len(lines) > LINES:
        yield f"and {len(lines) - LINES:,} more"


def _link(link: str | None) -> Iterable[Block]:
    """A link only if it is one: what could end it early, or is no web address, is left out."""
    is_safe = link is not None and link.startswith(("https://", "http://")) and not set(link) & set("|<>\"'` \n")
    if link is not None and is_safe and link.isprintable() and len(link) < 2_000:
        yield {"type": "section", "text": _marked(f"<{link.replace('&', '&amp;')}|Open the report>")}


def _footer(notice: Notice) -> str:
    owner = f"owner {notice.owner} · " if notice.owner else ""
    since = f" (before: {notice.previous_status})" if notice.previous_status else ""
    when = shown_moment(notice.at, whole_days=False)
    return f"{owner}status {notice.status}{since} · {notice.action} · revision {notice.revision} · {when} UTC"


def _plain(text: str, most: int) -> Block:
    return {"type": "plain_text", "text": fitted(line(text), most), "emoji": False}


def _marked(text: str) -> Block:
    """Verbatim: Slack makes no links and no mentions of what only looks like one."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}

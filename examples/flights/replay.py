"""Sixty days of flights through the gate, one by one, with incidents that were made and a blizzard that was not.

`python examples/flights/replay.py` prints what is in README.md; with `--check` it fails if that says anything else,
with `--write` it is written there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import headgate as hg
from headgate.cli.init.demo import INCIDENTS, read_days

FENCE = "```text\n"


def story() -> Iterator[str]:
    """What happened, paragraph by paragraph."""
    store = hg.open_store("memory:", values="plain")  # plain: this is public data
    check = hg.Check("flights").is_complete("flight").is_contained_in("origin", ["EWR", "JFK", "LGA"])
    gate = hg.Gate("flights", store=store, false_alarms=0.01, checks=[check], owner="ops@")
    quiet: list[str] = []
    for name, day in read_days():
        broken = INCIDENTS.get(name)
        verdict = gate.judge(broken(day) if broken else day, partition=name)
        if verdict.action == "publish":
            quiet.append(name)
            continue
        if quiet:
            yield _published(quiet)
            quiet = []
        yield verdict.explain()
        if broken:
            gate.reject(name, note=str(broken.__doc__).strip(), who="ops@")
            again = gate.judge(day, partition=name)
            yield f"-> rejected, repaired and judged again: {again.headline}"
        else:
            gate.accept(name, note="it was so", who="ops@")
            yield "-> accepted: the airports were like that"
    if quiet:
        yield _published(quiet)


def _published(days: list[str]) -> str:
    return f"{days[0]} to {days[-1]}: {len(days)} days published"


def main(arguments: list[str]) -> int:
    told = "\n\n".join(story())
    page = Path(__file__).with_name("README.md")
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(FENCE)
    inside, _, after = rest.partition("\n```")
    if "--write" in arguments:
        page.write_text(f"{before}{FENCE}{told}\n```{after}", encoding="utf-8")
    print(told)
    if "--check" in arguments and inside != told:
        print(f"\n{page} says something else; python {__file__} --write mends it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

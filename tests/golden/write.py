"""`python -m tests.golden.write` writes the golden files that are missing and adds new names; it changes none.

A golden file is a promise to whoever stored such bytes. If one has to change, then the change in the code is wrong, or
it needs a new name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from headgate.values.codec import encode
from tests.golden.examples import EXPECTATIONS, REFERENCES, Example, analysis, examples, plain, stored_names
from tests.golden.history import written

HERE = Path(__file__).parent
STATES, NAMES, ANALYSIS, EXPECTED, STORE = (
    HERE / "states",
    HERE / "names.json",
    HERE / "analysis.json",
    HERE / "expectations.json",
    HERE / "store.json",
)


def main() -> None:
    for name, example in examples().items():
        _write_once(STATES / f"{name}.json", _kept(example))
    for tag, state in REFERENCES.items():
        _write_once(STATES / f"{tag}-small.json", {"key": "groups(id)", "bytes": encode(state, "groups(id)").hex()})
    found = analysis()
    _write_once(ANALYSIS, {"bytes": found.to_bytes().hex(), "outcomes": found.to_dict()})
    _write_once(EXPECTED, [json.loads(msgspec.json.encode(each)) for each in EXPECTATIONS])
    if not STORE.exists():
        _write_once(STORE, written(STATES))
    _add_names()


def _kept(example: Example) -> dict[str, Any]:
    key = str(example.metric.state_key)
    outcomes = {str(metric.key): plain(metric.measure(example.state)) for metric in example.readers()}
    return {"key": key, "kinds": plain(example.kinds), "bytes": encode(example.state, key).hex(), "outcomes": outcomes}


def _write_once(path: Path, content: Any) -> None:
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"wrote {path.relative_to(HERE)}")


def _add_names() -> None:
    known: dict[str, list[str]] = json.loads(NAMES.read_text(encoding="utf-8")) if NAMES.exists() else {}
    every = {kind: sorted({*known.get(kind, []), *names}) for kind, names in stored_names().items()}
    if every != known:
        NAMES.write_text(json.dumps({**known, **every}, indent=2) + "\n", encoding="utf-8")
        print("added names")


if __name__ == "__main__":
    main()

"""`python -m benchmarks.novelty`: runs what is missing, writes the results, and the page in docs from them."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.novelty.curves import curves
from benchmarks.novelty.fbposts import fbposts, fbposts_gate
from benchmarks.novelty.page import write_page
from benchmarks.novelty.preliminary import preliminary
from benchmarks.novelty.retail_gate import retail_gate
from benchmarks.timing import versions
from benchmarks.values_mode import VALUES

RESULTS = Path(__file__).parent / "results"
PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "fbposts": fbposts,
    "fbposts_gate": fbposts_gate,
    "preliminary": preliminary,
    "curves": curves,
    "retail_gate": retail_gate,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.novelty", description=__doc__)
    parser.add_argument("--only", choices=(*PARTS, "page"), help="one part again; `page` writes the page again")
    given = parser.parse_args()
    for name, run in PARTS.items():
        file = RESULTS / f"{name}.json"
        if given.only == name or (given.only is None and not file.exists()):
            began, load = time.perf_counter(), os.getloadavg()[1]
            found = {"versions": versions("numpy", "pyarrow", "scikit-learn", "scipy"), "values": VALUES, **run()}
            found |= {"took": round(time.perf_counter() - began), "load": round(max(load, os.getloadavg()[1]), 1)}
            RESULTS.mkdir(exist_ok=True)
            file.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page()


if __name__ == "__main__":
    main()

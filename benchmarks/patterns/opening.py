"""`python -m benchmarks.patterns.opening [--folder F] [--entries N]`: what opening a pattern index of 1 GB costs.

Each figure is the median of 7 fresh processes. A look-up is of keys of which every other one is there. "Warm" means
that the file is in the page cache; "cold", that the system was asked to drop it from there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "opening.json"
ENTRIES = 2**30 // 36 + 1
PIECE = 2**16
ROUNDS = 7
SEED = 20_261


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--folder", type=Path, help="where the index is written, and removed from")
    options.add_argument("--entries", type=int, default=ENTRIES, help="other than 1 GB; nothing is kept then")
    options.add_argument("--measure", nargs=3, metavar=("INDEX", "KEYS", "COUNT"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        print(json.dumps(measured(*given.measure)))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        result = _experiment(Path(folder), given.entries)
    print(json.dumps(result, indent=1))
    if given.entries == ENTRIES:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


def _experiment(folder: Path, entries: int) -> dict[str, Any]:
    from benchmarks.timing import seconds, versions
    from headgate.learn.patterns.index_file import PatternFile

    index = folder / "index.hgi"
    taken = {"write": seconds(lambda: _write(index, folder / "keys.npy", entries))}
    with PatternFile.open(index) as opened:
        facts = {"entries": len(opened), "bytes": index.stat().st_size, "rounds": ROUNDS, "seed": SEED}
        taken["verify"] = seconds(opened.verify)
    runs: dict[str, list[dict[str, float]]] = {}
    for _ in range(ROUNDS):
        for cache in ("warm", "cold"):
            for count, name in ((1, f"{cache}, 1 key"), (500, f"{cache}, 500 keys")):
                _prepare(index, cache)
                runs.setdefault(name, []).append(_in_a_process(index, folder / "keys.npy", count))
    figures = {
        "medians": {name: _each(statistics.median, found) for name, found in runs.items()},
        "minima": {
            name: _each(min, found) for name, found in runs.items()
        },  # of the process that others disturbed least
    }
    spent = {f"{name}_seconds": round(value, 2) for name, value in taken.items()}
    return {**facts, **spent, "load_average": round(os.getloadavg()[0], 1), **versions("numpy"), **figures}


def _write(index: Path, keys: Path, entries: int) -> None:
    """An index of uniformly random keys, made piece by piece; and keys to look up, of which it has every other one."""
    import numpy as np

    from headgate.learn.patterns.entries import ENTRY, Entries
    from headgate.learn.patterns.index_file import write_index

    chance, pieces = np.random.default_rng(SEED), -(-entries // PIECE)
    there: list[int] = []

    def made() -> Iterator[Entries]:
        for at in range(pieces):
            size = entries * (at + 1) // pieces - entries * at // pieces
            rows = np.zeros(size, ENTRY)
            rows["key"] = chance.integers((at << 64) // pieces, ((at + 1) << 64) // pieces, size, np.uint64)
            rows["columns"] = chance.geometric(0.2, size)
            rows["impurity"] = rows["columns"] * chance.integers(0, 2**32, size, np.uint64)
            there.extend(chance.choice(rows["key"], 1 + 1_000 // pieces).tolist())
            yield Entries.of(rows)

    write_index(index, made(), {"name": "random", "columns": entries})
    wanted = np.empty(1_000, np.uint64)
    wanted[0::2] = chance.permutation(np.array(there, np.uint64))[:500]
    wanted[1::2] = chance.integers(0, 2**64, 500, np.uint64)
    np.save(keys, wanted)


def _prepare(index: Path, cache: str) -> None:
    with open(index, "rb") as file:
        if cache == "cold":
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        else:
            while file.read(2**24):
                pass


def _in_a_process(index: Path, keys: Path, count: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.patterns.opening", "--measure", str(index), str(keys), str(count)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _each(of: Callable[[list[float]], float], runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(of([run[name] for run in runs]), 3) for name in runs[0]}


def measured(index: str, keys: str, count: str) -> dict[str, float]:
    """The figures of one process: milliseconds and megabytes."""
    begun = time.perf_counter()
    import numpy as np

    from headgate.learn.patterns.index_file import PatternFile

    imported = time.perf_counter()
    wanted, others = np.load(keys)[: int(count)], np.load(keys)[500:]
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew, so that it is not the one of the imports
    before, start = _megabytes("VmHWM"), time.perf_counter()
    opened = PatternFile.open(index)
    ready = time.perf_counter()
    found = opened.find_entries(wanted)
    end = time.perf_counter()
    after, total = _megabytes("VmHWM"), _megabytes("VmRSS")
    assert found["columns"].astype(bool).tolist() == [at % 2 == 0 for at in range(len(wanted))]
    milliseconds = {"open_and_look_up_ms": end - start, "open_ms": ready - start, "import_ms": imported - begun}
    milliseconds |= {"again_ms": _seconds(opened, wanted), "500_others_ms": _seconds(opened, others)}
    milliseconds |= {"500_others_again_ms": _seconds(opened, others)}
    memory = {"memory_added_mb": after - before, "memory_before_mb": before, "memory_total_mb": total}
    return {name: 1_000 * value for name, value in milliseconds.items()} | memory


def _seconds(opened: Any, keys: Any) -> float:
    start = time.perf_counter()
    opened.found(keys)
    return time.perf_counter() - start


def _megabytes(name: str) -> float:
    """A line of the process's status, which is in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1_024 / 1e6


if __name__ == "__main__":
    main()

"""The page of the patterns benchmark, from made-up results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.patterns.page import FILES, LAKES, best_other, write_page

GROUPS = {"all": 40, "applicable": 30, "syntactic": 20, "structured": 12, "word": 8, "text": 20}
F1S = {"Potter's Wheel": 0.5123, "FMDV-VH": 0.6123, "Headgate": 0.8347, "Headgate, unseen source": 0.8211}


def row(f1: float, cases: int) -> dict[str, Any]:
    around = [round(f1 - 0.02, 4), round(f1 + 0.02, 4)]
    return {"cases": cases, "rules": cases - 3, "precision": 0.9511, "recall": f1 - 0.1, "f1": f1} | {
        "recall_other": f1 - 0.09,
        "f1_interval": around,
        "milliseconds": 4.25,
    }


def one_set(name: str) -> dict[str, Any]:
    return {
        "set": name,
        "columns": {"rest": 7_345, "cases": 40},
        "groups": GROUPS,
        "scores": {group: {method: row(f1, n) for method, f1 in F1S.items()} for group, n in GROUPS.items()},
    }


def scored(recall: float) -> dict[str, Any]:
    told = {"precision": 0.97, "recall": recall, "f1": recall + 0.02}
    return {"rules": 17, "all": told, "syntactic": told}


def sensitivity() -> list[dict[str, Any]]:
    grid = {"limit": (0.01, 0.1, 0.8), "coverage": (1, 100), "tau": (8, 13), "tolerance": (0.0, 0.1)}
    recalls = {"fmdv-vh": (0.3, 0.4, 0.5), "headgate": (0.7, 0.8, 0.7)}
    return [
        {"method": method, "parameter": parameter, "value": value} | scored(recall)
        for parameter, values in grid.items()
        for method, recalled in recalls.items()
        for value, recall in zip(values, recalled, strict=False)
    ]


def rates(stated: float, seen: float, low: float, high: float) -> dict[str, float]:
    return {"estimated": stated / 2, "stated": stated, "seen": seen, "low": low, "high": high}


def calibration() -> dict[str, Any]:
    low = {"from": 0.0, "to": 0.01, "rules": 900, "sources": 30} | rates(0.005, 0.004, 0.002, 0.01)
    high = {"from": 0.1, "to": 0.2, "rules": 400, "sources": 30} | rates(0.15, 0.25, 0.2, 0.3)
    told = {"rules": 1_300, "estimated": 0.03, "stated": 0.05, "seen": 0.08, "bins": [low, high]}
    return {"tenth": told, "half": told | {"bins": [low]}}


def around() -> dict[str, Any]:
    common = [
        {"pattern": f"<digit>{{4}}|{at}|", "columns": 900 - at, "led": 800, "failed": 7, "fpr": 0.01}
        for at in range(30)
    ]
    return {
        "set": "dev",
        "sizes": [
            {"method": method, "columns": 1_000 * 2**at} | scored(start + at / 50)
            for at in range(5)
            for method, start in {"fmdv-vh": 0.4, "headgate": 0.7}.items()
        ],
        "calibration": calibration(),
        "distribution": {"patterns": 54_321, "columns": 7_345, "bytes": 2_000_000, "open": 4_321, "common": common}
        | {"by_tokens": {"1": 900, "2": 4_000, "13": 70}, "by_columns": {"1": 54_321, "10": 800, "100": 30}},
        "sensitivity": sensitivity(),
    }


def speed() -> dict[str, Any]:
    taken = {"median": 6.4, "p90": 12.2, "p99": 61.7, "most": 90.1, "mean": 8.3}
    return {"values": 1_000, "columns": 50, "rounds": 5, "patterns": 54_321, "bytes": 2_000_000} | {
        "milliseconds": {"FMDV-VH": taken | {"p99": 20.5}, "Headgate": taken}
    }


def opening() -> dict[str, Any]:
    each = {"open_and_look_up_ms": 2.5, "open_ms": 1.5, "again_ms": 0.1, "import_ms": 104.0, "memory_added_mb": 1.8}
    return {"entries": 29_000_001, "bytes": 1_083_000_000, "rounds": 7, "verify_seconds": 1.3} | {
        "medians": {"warm, 1 key": each, "cold, 1 key": each | {"open_and_look_up_ms": 77.7}}
    }


def scaling() -> dict[str, Any]:
    way = {
        "columns": [500, 1_000],
        "median_seconds": [1.2, 2.6],
        "median_cpu_seconds": [1.1, 2.5],
        "cpu_seconds_start": -0.3,
        "cpu_seconds_a_column": 0.0028,
        "cpu_seconds_largest_deviation_from_linear": 0.17,
        "columns_a_second_and_core, cpu_seconds": [454.5, 400.0],
    }
    size = {"columns": 1_000, "bytes": {"1": 26_000_000, "2": 3_800_000}, "bytes_a_column": {"1": 26_000, "2": 3_800}}
    return {
        "rounds": 3,
        "tau": 13,
        "cores": "2",
        "load_average": [0.5, 1.5],
        "ways": {"this process": way, "Spark": way | {"cpu_seconds_largest_deviation_from_linear": 0.02}},
        "tau 8, all columns, one round": {"this process": {"columns": 1_000, "cpu_seconds": 1.9, "bytes": 20_000_000}},
        "index": {"sizes": [size], "growth": {floor: {"exponent": 0.83, "papers_lake_gb": 43.1} for floor in "12"}},
        "papers_lake": {"columns": LAKES["enterprise"]}
        | {name: {"core_hours": 5.6, "hours_on_10_x_8": 0.07} for name in ("this process", "Spark")},
    }


def safety() -> dict[str, Any]:
    engines = ("RE2", "Python", "Java")
    slowest = {name: [{"milliseconds": 41.5, "regex": "^(?:a|b)+$"}] for name in engines}
    counts = {"characters": dict.fromkeys(engines, 1_000_000), "over": {"RE2": 0, "Python": 3, "Java": 0}}
    return {"expressions": 777, "limit": 100.0, "slowest": slowest} | counts


EVERY = {name: one_set(name) for name in ("mixed", "ukgov", "dev")} | {
    "around": around(),
    "speed": speed(),
    "opening": opening(),
    "scaling": scaling(),
    "safety": safety(),
}


def page_of(folder: Path, *names: str) -> str:
    results, docs = folder / "results", folder / "docs"
    results.mkdir()
    docs.mkdir()
    for name in names:
        (results / f"{name}.json").write_text(json.dumps(EVERY[name]), encoding="utf-8")
    write_page(results, docs / "page.md")
    return (docs / "page.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("page")
    return page_of(folder, *FILES), folder / "docs"


def test_scores_stand_in_the_table_and_the_best_is_bold(whole: tuple[str, Path]) -> None:
    assert "| Headgate | 17 | 0.951 | 0.735 | **0.835** (0.815 to 0.855) | 4.2 |" in whole[0]
    assert "| Headgate, unseen source | 17 | 0.951 | 0.721 | 0.821 (0.801 to 0.841) | 4.2 |" in whole[0]


def test_the_lead_is_over_the_best_method_of_others(whole: tuple[str, Path]) -> None:
    assert best_other({name: {"f1": f1} for name, f1 in F1S.items()})[0] == "FMDV-VH"
    lead = "ahead of the best other method, FMDV-VH, by 0.222 in F1 (0.835 and 0.612; their intervals are apart)"
    assert whole[0].count(lead) == 9


def test_the_best_limit_at_the_end_of_the_grid_is_told(whole: tuple[str, Path]) -> None:
    assert "- FMDV-VH: best F1 of all columns 0.520, at r = 0.8, the largest that was tried" in whole[0]
    assert "- Headgate: best F1 of all columns 0.820, at r = 0.1.\n" in whole[0]


def test_recall_is_drawn_on_along_a_line_and_capped(whole: tuple[str, Path]) -> None:
    assert "Headgate: each doubling of the corpus moves the recall of syntactic columns by +0.020" in whole[0]
    assert "0.886 at 628,000 (government), 0.956 at 7,200,000 (enterprise). This is a line through 5 points" in whole[0]


def test_numbers_of_every_other_section_stand_in_it(whole: tuple[str, Path]) -> None:
    for shown in (
        "| from a tenth | 0.1 | 0.2 | 400 | 30 | 0.0750 | 0.1500 | **0.2500** |",
        "| `<digit>{4}\\|24\\|` | 1 | 876 | 800 | 7 | 0.010 |",
        "| Headgate | 6.4 | 12.2 | **61.7** | 90.1 | 8.3 |",
        "| cold, 1 key | 77.7 | 1.5 | 0.1 | 1.8 |",
        "| this process | 1,000 | 2.6 | 2.5 | 400 | 2.80 | 17.0% |",
        "| Python | 1,000,000 | 41.5 | 3 | `^(?:a\\|b)+$` |",
    ):
        assert shown in whole[0]
    assert "{4}\\|25\\|" not in whole[0]


def test_what_falls_short_is_told(whole: tuple[str, Path]) -> None:
    short = whole[0].partition("## What falls short")[2]
    for shown in (
        "*mixed*, all: precision is 0.951 (published: 0.961) and recall is 0.735 (published: 0.880). 3 of 40 columns",
        "Rules from a tenth of a column that state 0.150",
        "Inference: p99 61.7 ms, above 50 ms.",
        "Opening, cold, 1 key: 77.7 ms",
        "Building (this process): CPU time is up to 17% off a straight line.",
        "3 expressions take longer than 100 ms in Python.",
    ):
        assert shown in short
    assert "Spark" not in short
    assert "Not measured yet" not in short


def test_every_picture_of_the_page_is_there(whole: tuple[str, Path]) -> None:
    text, docs = whole
    drawn = {f"pictures/{path.name}" for path in (docs / "pictures").iterdir()}
    assert drawn == {part.partition(")")[0] for part in text.split("](") if part.startswith("pictures/")}
    assert len(drawn) == 5


def test_a_section_without_results_is_left_out(tmp_path: Path) -> None:
    text = page_of(tmp_path, "ukgov", "opening")
    held = [line for line in text.splitlines() if line.startswith("## ")]
    assert [line.split(" ")[1] for line in held] == ["The", "Columns", "Opening", "What"]
    assert "Not measured yet: mixed, dev, around, speed, scaling, safety." in text
    assert not (tmp_path / "docs" / "pictures").exists()

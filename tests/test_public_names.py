"""The public face: what it offers is pinned here, and importing it costs nothing."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import metrics

ROOT = Path(__file__).resolve().parents[1]

NAMES = [
    *(
        "AbsoluteChange",
        "BatchVerdict",
        "Diagnosis",
        "RepairTrial",
        "Folders",
        "Iceberg",
        "ResultTables",
        "Delta",
        "StreamGate",
        "RowExpectations",
        "expect",
        "expect_or_drop",
        "expect_or_fail",
        "expect_learned",
        "expect_learned_or_fail",
        "Report",
        "Gate",
        "Novelty",
        "Analysis",
        "BatchNormal",
        "Between",
        "Check",
        "CostEstimate",
        "Decision",
        "Distribution",
        "Evidence",
        "Failed",
        "HeadgateError",
        "HistoryStore",
        "HoltWinters",
        "Measured",
        "MetricKey",
        "OneOf",
        "OnlineNormal",
        "Parts",
        "Profile",
        "Progress",
        "Program",
        "Project",
        "learn_program",
        "Past",
        "RelativeChange",
        "Run",
        "Status",
        "Suggestions",
        "Threshold",
        "Undefined",
        "Verification",
        "analyze",
        "inject_issue",
        "issues",
        "open_store",
        "open_table_store",
        "PatternIndex",
        "build_index",
        "calibrate",
        "explain_cost",
        "propose_pattern",
        "find_columns",
        "profile",
        "suggest",
        "verify",
    ),
    # a metric is public by being registered: adding one needs no line here
    *(kind.__name__ for kind in metrics().values() if kind.__module__.startswith("headgate.")),
]

HEAVY = ("pyspark", "pandas", "polars", "scipy", "pyarrow", "datasketches", "numpy", "sqlglot", "pydantic", "yaml")

LOOK = f"""
import json, sys
import headgate
loaded = [name for name in {HEAVY} if name in sys.modules]
names = sorted(set(headgate.__all__))
spark = [name for name in ("pyspark", "pandas", "polars", "scipy") if name in sys.modules]
star = {{}}
exec("from headgate import *", star)
print(json.dumps({{"loaded": loaded, "names": names, "later": spark, "star": sorted(set(star) - {{"__builtins__"}})}}))
"""


@cache
def seen() -> dict[str, Any]:
    """What a fresh interpreter sees."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", LOOK], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_importing_the_package_loads_no_spark_and_no_library_at_all() -> None:
    assert seen()["loaded"] == []


def test_looking_at_every_metric_loads_neither_spark_nor_a_frame() -> None:
    assert seen()["later"] == []


def test_the_public_names_are_these() -> None:
    assert seen()["names"] == sorted(NAMES)


def test_a_star_import_gives_the_public_names() -> None:
    assert seen()["star"] == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(headgate, name).__name__ == name
    assert name in dir(headgate)


def test_every_metric_is_reachable_by_its_class() -> None:
    own = [kind for kind in metrics().values() if kind.__module__.startswith("headgate.")]
    assert [kind for kind in own if getattr(headgate, kind.__name__) is not kind] == []
    assert all(issubclass(kind, Metric) for kind in own)


@pytest.mark.parametrize("name", ["Meen", "mean", "registry", "_Metric", ""])
def test_what_is_not_public_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match="headgate"):
        getattr(headgate, name)


MADE_BY_HEADGATE = {
    *(
        "Analysis",
        "BatchVerdict",
        "CostEstimate",
        "Diagnosis",
        "Novelty",
        "Parts",
        "Past",
        "Program",
        "Progress",
        "Project",
    ),
    "RepairTrial",
}
"""Results: users read them and do not construct them."""


def callables() -> Iterator[tuple[str, Any]]:
    """What users call: functions, constructors, and the public methods of public classes."""
    for name in NAMES:
        value = getattr(headgate, name)
        if not inspect.isclass(value):
            yield name, value
        elif not issubclass(value, Enum):
            if name not in MADE_BY_HEADGATE and not issubclass(value, Metric):  # docs/metrics.md explains metrics
                yield name, value
            methods = inspect.getmembers(value, lambda member: inspect.isfunction(member) or inspect.ismethod(member))
            yield from ((f"{name}.{word}", method) for word, method in methods if not word.startswith("_"))


def parameters(function: Any) -> list[str]:
    found = inspect.signature(function).parameters.values()
    return [each.name for each in found if each.name not in ("self", "cls")]


LONG = {name: each for name, each in callables() if len(parameters(each)) > 3}
SHARED = re.compile(r"^The arguments are those of `(\w+)`\.$", re.MULTILINE)


def explanation_of(name: str) -> str:
    """The text that explains the parameters: that of the callable, or of the method of its class that it names."""
    doc = inspect.getdoc(LONG[name]) or ""
    shared = SHARED.search(doc)
    return explanation_of(f"{name.rpartition('.')[0]}.{shared[1]}") if shared else doc


@pytest.mark.parametrize("name", LONG)
def test_a_callable_with_many_parameters_explains_each(name: str) -> None:
    block = explanation_of(name).partition("Args:\n")[2].partition("\n\n")[0]
    begins = (re.match(r" {4}\*{0,2}(\w+): ", line) for line in block.splitlines())
    assert [matched[1] for matched in begins if matched] == parameters(LONG[name])


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert [name for name in dir(headgate) if not name.startswith("__")] == sorted(NAMES)


def test_the_version_is_that_of_the_distribution() -> None:
    assert headgate.__version__ == version("headgate")


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "headgate", "--version"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"headgate {headgate.__version__}\n"

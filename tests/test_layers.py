"""Who may import whom, and what no module may do: read from the source, so that lazy imports count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.imports import FACE, SOURCE, Module, find_circles, import_graph, imports, modules

# A room imports only rooms of a row above its own; rooms of one row do not import each other.
ROWS = (
    ("display", "stats"),
    ("values",),
    ("metrics",),
    ("engine", "store", "checks", "inject"),
    ("learn",),
    ("evaluate",),
    ("diagnose",),
    ("explain",),
    ("gate",),
    ("report", "integrations"),
    ("project",),
    ("cli",),
)
ROW_OF = {room: row for row, rooms in enumerate(ROWS) for room in rooms}
LEARNERS = {"rules", "anomaly", "history", "patterns", "novelty"}

SPARK = {"pyspark", "py4j"}
CODE_CARRIERS = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
CODE_RUNNERS = {"eval", "exec"}
UNSAFE_CALLS = {
    *(f"yaml.{name}" for name in ("load", "load_all", "full_load", "full_load_all", "unsafe_load", "unsafe_load_all")),
    *(f"builtins.{name}" for name in CODE_RUNNERS),
}


def uphill(module: Module) -> Iterator[str]:
    """Imports of a room that is not below this one."""
    if len(module.parts) == 1 and module.room in FACE:
        return
    if module.room not in ROW_OF:
        yield f"{module.path}:1: '{module.room}' is not a room; the rooms are {', '.join(ROW_OF)}"
        return
    for line, target in imports(module):
        if target[0] != "headgate":
            continue
        room = target[1] if len(target) > 1 else ""
        if room not in ROW_OF:
            yield f"{module.path}:{line}: {module.room} may not import the public face of headgate; import the room"
        elif room != module.room and ROW_OF[room] >= ROW_OF[module.room]:
            yield f"{module.path}:{line}: {module.room} may not import {room}"
        elif between_learners(module.parts, target[1:]):
            yield f"{module.path}:{line}: learn/{module.parts[1]} may not import learn/{target[2]}"


def between_learners(parts: tuple[str, ...], target: tuple[str, ...]) -> bool:
    def learner(name: tuple[str, ...]) -> str | None:
        return name[1] if len(name) > 1 and name[0] == "learn" and name[1] in LEARNERS else None

    own, other = learner(parts), learner(target)
    return own is not None and other is not None and own != other


def may_import_spark(parts: tuple[str, ...]) -> bool:
    return (
        parts[0] == "integrations"
        or (parts[0] == "engine" and len(parts) > 1 and parts[1].startswith("spark"))
        or parts == ("learn", "patterns", "build")
    )


def spark_outside_its_rooms(module: Module) -> Iterator[str]:
    if may_import_spark(module.parts):
        return
    for line, target in imports(module):
        if target[0] in SPARK:
            yield (
                f"{module.path}:{line}: {target[0]} is imported only in engine/spark*, learn/patterns/build.py "
                "and integrations/"
            )


def data_run_as_code(module: Module) -> Iterator[str]:
    """Ways in which bytes or text could become code (TRUST, test S6)."""
    for line, target in imports(module):
        if carriers := CODE_CARRIERS.intersection(target):
            yield f"{module.path}:{line}: no {min(carriers)}: stored and received data must never carry code"
        if ".".join(target) in UNSAFE_CALLS:
            yield f"{module.path}:{line}: no {'.'.join(target)}"
    aliases = aliases_of(module)
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in CODE_RUNNERS:
                yield f"{module.path}:{node.lineno}: no {name}"
            case ast.Attribute() if (name := dotted(node, aliases)) in UNSAFE_CALLS:
                yield f"{module.path}:{node.lineno}: no {name}"
            case ast.Attribute(attr="read_pickle" | "to_pickle" as name):
                yield f"{module.path}:{node.lineno}: no {name}"
            case ast.keyword(arg="allow_pickle", value=value) if not is_false(value):
                yield f"{module.path}:{value.lineno}: no allow_pickle"


def aliases_of(module: Module) -> dict[str, str]:
    """Local name -> imported module, for `import yaml as y`."""
    return {
        alias.asname: alias.name
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.asname
    }


def dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return aliases.get(name, name)
        case ast.Attribute(value=value, attr=attr):
            return f"{dotted(value, aliases)}.{attr}"
    return ""


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


# The package itself.


@pytest.fixture(scope="module")
def house() -> list[Module]:
    found = modules(SOURCE)
    assert found, f"there is no module in {SOURCE}"
    return found


def test_no_room_imports_uphill(house: list[Module]) -> None:
    assert [complaint for module in house for complaint in uphill(module)] == []


def test_spark_is_imported_only_where_it_may_be(house: list[Module]) -> None:
    assert [complaint for module in house for complaint in spark_outside_its_rooms(module)] == []


def test_no_files_import_each_other_in_a_circle(house: list[Module]) -> None:
    assert find_circles(import_graph(house)) == []


def test_no_module_can_run_data_as_code(house: list[Module]) -> None:
    assert [complaint for module in house for complaint in data_run_as_code(module)] == []


# The rules above see what they should see.


def complaints(folder: Path, path: str, source: str) -> list[str]:
    """What the rules say of a package `headgate` that holds this one file."""
    file = folder / "headgate" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf-8")
    rules = (uphill, spark_outside_its_rooms, data_run_as_code)
    return [complaint for module in modules(folder / "headgate") for rule in rules for complaint in rule(module)]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("values/state.py", "import headgate.metrics", id="values -> metrics"),
        pytest.param("display/page.py", "from headgate.values.errors import MisuseError", id="display -> values"),
        pytest.param("stats/bounds.py", "from headgate.values import state", id="stats -> values"),
        pytest.param("metrics/mean.py", "from headgate.engine.plan import plan", id="metrics -> engine"),
        pytest.param("engine/plan.py", "from headgate import store", id="engine -> store"),
        pytest.param("store/files.py", "from headgate.checks import Check", id="store -> checks"),
        pytest.param("inject/nulls.py", "import headgate.engine.local as local", id="inject -> engine"),
        pytest.param("learn/budget.py", "from headgate.gate.judge import judge", id="learn -> gate"),
        pytest.param("report/html.py", "from headgate.integrations import airflow", id="report -> integrations"),
        pytest.param("gate/judge.py", "from headgate.cli import main", id="gate -> cli"),
        pytest.param("engine/local.py", "from ..gate import judge", id="relative"),
        pytest.param("engine/__init__.py", "from ..gate import judge", id="relative, from a package"),
        pytest.param("engine/__init__.py", "from .. import gate", id="relative, bare"),
        pytest.param("engine/local.py", "def run():\n    from headgate.gate import judge", id="inside a function"),
        pytest.param("engine/local.py", "if TYPE_CHECKING:\n    from headgate.gate import judge", id="for types only"),
        pytest.param("engine/local.py", "importlib.import_module('headgate.gate')", id="import_module"),
        pytest.param("engine/local.py", "import_module('..gate', __package__)", id="relative import_module"),
        pytest.param("engine/local.py", "__import__('headgate.gate')", id="__import__"),
        pytest.param("engine/local.py", "from headgate import Mean", id="the public face"),
        pytest.param("engine/local.py", "import headgate", id="the whole package"),
        pytest.param("helpers.py", "x = 1", id="a module outside the rooms"),
        pytest.param("helpers/text.py", "x = 1", id="an unknown room"),
        pytest.param("learn/rules/ranges.py", "from headgate.learn.history import fit", id="rules -> history"),
        pytest.param("learn/anomaly/normal.py", "from headgate.learn import novelty", id="anomaly -> novelty"),
        pytest.param("learn/patterns/infer.py", "from ..rules import ranges", id="patterns -> rules, relative"),
        pytest.param("values/state.py", "import pyspark", id="pyspark in values"),
        pytest.param("engine/local.py", "from pyspark.sql import DataFrame", id="pyspark in the local engine"),
        pytest.param("learn/patterns/infer.py", "import pyspark.sql", id="pyspark in patterns/infer"),
        pytest.param("__init__.py", "from pyspark.sql import DataFrame", id="pyspark in the public face"),
        pytest.param("checks/verify.py", "def f():\n    import pyspark", id="pyspark inside a function"),
        pytest.param("values/codec.py", "import pickle", id="pickle"),
        pytest.param("engine/spark.py", "from pyspark import cloudpickle", id="cloudpickle"),
        pytest.param("values/codec.py", "from pickle import loads", id="from pickle"),
        pytest.param("checks/form.py", "import yaml\nyaml.load(text)", id="yaml.load"),
        pytest.param("checks/form.py", "import yaml as y\ny.unsafe_load(text)", id="yaml under another name"),
        pytest.param("checks/form.py", "from yaml import load", id="from yaml import load"),
        pytest.param("checks/verify.py", "eval('1')", id="eval"),
        pytest.param("checks/verify.py", "run = exec", id="exec as a value"),
        pytest.param("checks/verify.py", "import builtins\nbuiltins.eval('1')", id="builtins.eval"),
        pytest.param("store/files.py", "numpy.load(path, allow_pickle=True)", id="allow_pickle"),
        pytest.param("store/files.py", "pandas.read_pickle(path)", id="read_pickle"),
    ],
)
def test_a_violation_is_seen(tmp_path: Path, path: str, source: str) -> None:
    found = complaints(tmp_path, path, source)
    assert len(found) == 1
    assert Path(path).name in found[0]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("__init__.py", "from headgate.gate import Gate\nfrom .cli import main", id="the public face"),
        pytest.param("__main__.py", "from headgate.cli import main", id="python -m headgate"),
        pytest.param("values/state.py", "from headgate.stats.bounds import cantelli", id="values -> stats"),
        pytest.param("metrics/mean.py", "from headgate.values.state import State", id="metrics -> values"),
        pytest.param("metrics/mean.py", "from headgate.stats import moments", id="metrics -> stats"),
        pytest.param("metrics/mean.py", "from .base import metric\nfrom . import base", id="inside one room"),
        pytest.param("metrics/base/batch.py", "from ..states import distinct", id="between folders of one room"),
        pytest.param("cli/commands/run.py", "from headgate.report import html", id="cli -> report"),
        pytest.param("learn/rules/ranges.py", "from headgate.learn.proposal import Proposal", id="rules -> learn"),
        pytest.param("learn/rules/ranges.py", "from . import types", id="inside one learner"),
        pytest.param("learn/__init__.py", "from headgate.learn import rules", id="learn -> rules"),
        pytest.param("engine/spark.py", "import pyspark", id="pyspark in engine/spark.py"),
        pytest.param("engine/spark/run.py", "from pyspark.sql import DataFrame", id="pyspark in engine/spark/"),
        pytest.param("engine/__init__.py", "from headgate.engine.spark import run", id="engine -> engine/spark"),
        pytest.param("learn/patterns/build.py", "import pyspark", id="pyspark in patterns/build"),
        pytest.param("integrations/delta.py", "import pyspark", id="pyspark in integrations"),
        pytest.param("checks/form.py", "import yaml\nyaml.safe_load(text)", id="yaml.safe_load"),
        pytest.param("store/files.py", "numpy.load(path, allow_pickle=False)", id="numpy without pickle"),
        pytest.param("values/key.py", "import re\nre.compile('a')", id="re.compile"),
        pytest.param("values/key.py", "import headgatekeeper", id="a name that only starts alike"),
    ],
)
def test_what_is_allowed_is_let_through(tmp_path: Path, path: str, source: str) -> None:
    assert complaints(tmp_path, path, source) == []


def test_every_violation_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    source = "import pyspark\n\n\ndef f():\n    from headgate.cli import main\n    return eval('1')\n"
    found = complaints(tmp_path, "engine/plan.py", source)
    assert [complaint.split(":")[1] for complaint in found] == ["5", "1", "6"]


def test_a_circle_is_seen_through_lazy_imports_and_imports_for_types(tmp_path: Path) -> None:
    sources = {
        "engine/plan.py": "def f():\n    from headgate.engine.scan import scan",
        "engine/scan.py": "if TYPE_CHECKING:\n    from headgate.engine import part",
        "engine/part.py": "from .plan import Plan",
        "engine/local.py": "from headgate.engine.plan import Plan",
        "engine/__init__.py": "",
    }
    for path, source in sources.items():
        complaints(tmp_path, path, source)
    circle = ("headgate.engine.part", "headgate.engine.plan", "headgate.engine.scan")
    assert find_circles(import_graph(modules(tmp_path / "headgate"))) == [circle]

"""Projects whose batches Spark reads: files and tables, classic and Connect, and the session that a file asks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.engine import spark_sources
from headgate.project.dataset import Dataset
from headgate.project.project import Project
from headgate.values.errors import ConfigError, EngineError
from tests.project.files import lake, written

ROOT = Path(__file__).resolve().parents[2]
FILES = """\
store: "memory:"
spark: {master: "local[2]"}
datasets:
  orders:
    source: {format: parquet, path: "lake/orders/day={partition}"}
    checks:
      - is_unique: order_id
      - has_mean: price
        between: [40, 60]
"""
TABLE = """\
store: "memory:"
datasets:
  orders:
    source: {table: headgate_project_orders, where: "day = '{partition}'"}
"""


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: Any) -> Any:
    return spark if request.param == "classic" else request.getfixturevalue("connect")


@pytest.fixture(scope="module")
def table(spark: Any) -> Iterator[None]:
    """Days with quotes and signs in their names, so that a careless predicate would choose other rows."""
    rows = [("2026-11-14", 1), ("2026-11-14", 2), ("2026-11-15", 3), ("it's", 4), ("' OR '1'='1", 5), ("\\", 6)]
    spark.createDataFrame(rows, "day string, id int").write.mode("overwrite").saveAsTable("headgate_project_orders")
    yield
    spark.sql("DROP TABLE headgate_project_orders")


def orders(folder: Path, text: str, session: Any) -> Dataset:
    return Project.open(written(folder, text), spark=session).dataset("orders")


def test_a_given_session_reads_and_judges_a_batch(tmp_path: Path, session: Any) -> None:
    lake(tmp_path, [14, 15])
    found = orders(tmp_path, FILES, session)
    assert found.engine == "spark"
    assert found.waiting() == ("2026-11-14", "2026-11-15")
    data = found.read("2026-11-14")
    assert type(data).__module__.startswith("pyspark.")
    verdict = found.gate.judge(data, "2026-11-14", source=found.identify_files("2026-11-14"))
    assert verdict.passed
    assert found.waiting() == ("2026-11-15",)


def test_an_active_session_is_used_and_not_stopped(tmp_path: Path, spark: Any) -> None:
    lake(tmp_path, [14])
    with Project.open(written(tmp_path, FILES)) as project:
        assert project.session() is not None
        assert project.dataset("orders").read("2026-11-14").count() == 200
    assert spark.range(3).count() == 3


def test_rows_of_a_table_are_chosen_by_the_name_of_the_batch(tmp_path: Path, session: Any, table: None) -> None:
    found = orders(tmp_path, TABLE, session)
    assert found.is_listed
    assert found.identify_files("2026-11-14") == ""
    names = found.partitions()
    assert len(names) == 5
    for name in names:
        chosen = sorted(row.id for row in found.read(name).collect())
        assert chosen == ([1, 2] if name == "2026-11-14" else chosen[:1]), name
    assert [row.id for row in found.read("' OR '1'='1").collect()] == [5]


def test_a_table_without_a_predicate_is_one_batch(tmp_path: Path, session: Any, table: None) -> None:
    found = orders(tmp_path, TABLE.replace(", where: \"day = '{partition}'\"", ""), session)
    assert not found.is_listed
    assert found.partitions() == ()
    assert found.read("any").count() == 6


def test_a_predicate_may_be_more_than_a_name(tmp_path: Path, session: Any, table: None) -> None:
    found = orders(tmp_path, TABLE.replace("day = '{partition}'", "day = '{partition}' AND id > 1"), session)
    assert not found.is_listed
    assert [row.id for row in found.read("2026-11-14").collect()] == [2]


@pytest.mark.parametrize("form", ["csv", "json", "orc"])
def test_other_formats_are_read(form: str, tmp_path: Path, session: Any, spark: Any) -> None:
    place = tmp_path / "lake" / "orders" / "day=1"
    spark.createDataFrame([(1, "a"), (2, None)], "id int, name string").coalesce(1).write.format(form).options(
        header=True
    ).save(str(place))
    found = orders(tmp_path, FILES.replace("parquet", form), session)
    assert found.partitions() == ("1",)
    rows = found.read("1").select("id", "name").orderBy("id").collect()
    assert [(int(row.id), row.name) for row in rows] == [(1, "a"), (2, None)]


@pytest.mark.parametrize("name", ["2026-11-14 06:00", "a[1]{x}", "*", "100%", "it's"])
def test_a_batch_that_spark_wrote_under_an_odd_name_is_read(
    name: str, tmp_path: Path, session: Any, spark: Any
) -> None:
    rows = spark.createDataFrame([(name, 1), ("other", 2)], "day string, id int")
    rows.write.partitionBy("day").parquet(str(tmp_path / "lake" / "orders"))
    found = orders(tmp_path, FILES, session)
    assert set(found.partitions()) == {name, "other"}
    assert [row.id for row in found.read(name).collect()] == [1]


def test_a_missing_batch_says_what_is_there(tmp_path: Path, session: Any) -> None:
    lake(tmp_path, [14])
    with pytest.raises(EngineError, match=r"orders has no batch 2026-11-30: .* There are 2026-11-14."):
        orders(tmp_path, FILES, session).read("2026-11-30")


def test_a_path_that_spark_does_not_find_is_told(tmp_path: Path, session: Any) -> None:
    text = FILES.replace("lake/orders/day={partition}", "/nowhere/at/all/{partition}")
    with pytest.raises(EngineError, match=r"/nowhere/at/all/%2E%2E cannot be read as parquet: .*Look at source.path"):
        orders(tmp_path, text, session).read("..")


def test_a_table_that_spark_does_not_find_is_told(tmp_path: Path, session: Any) -> None:
    with pytest.raises(EngineError, match=r"the table nosuch cannot be read: .*Look at source.table"):
        orders(tmp_path, TABLE.replace("headgate_project_orders", "nosuch"), session).read("1")


def test_a_format_whose_jar_is_not_there_is_told(tmp_path: Path, session: Any) -> None:
    lake(tmp_path, [14])
    with pytest.raises(EngineError, match=r"Spark needs the jar of delta: name it in spark.packages"):
        orders(tmp_path, FILES.replace("parquet", "delta"), session).read("2026-11-14")


@pytest.mark.parametrize("where", ["dya = '{partition}'", "user = '{partition}' AND id > 1"])
def test_a_predicate_that_names_no_column_is_told(where: str, tmp_path: Path, session: Any, table: None) -> None:
    with pytest.raises(EngineError, match=r"where: names the column '(dya|user)'; there are day, id"):
        orders(tmp_path, TABLE.replace("day = '{partition}'", where), session).read("1")


# --- sessions that a file asks for: each in a process of its own, as this one has one already


def ran(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    said = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **environment}
    said.pop("SPARK_LOCAL_IP", None)
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=said, capture_output=True, text=True, check=False
    )


OPEN = """
from headgate.project.project import Project
with Project.open(%s) as project:
    found = project.dataset("orders")
"""
LOCAL = """    data = found.read("2026-11-14")
    session = project.session()
    conf = session.sparkContext.getConf()
    passed = found.gate.judge(data, "2026-11-14").passed
    print(passed, session.sparkContext.master, conf.get("spark.driver.bindAddress"))
    print(conf.get("spark.ui.enabled"), session.sparkContext.uiWebUrl, conf.get("spark.sql.shuffle.partitions"))
from pyspark.sql import SparkSession
print(SparkSession.getActiveSession())
"""


def test_a_session_is_started_on_loopback_without_a_web_page_and_stopped(tmp_path: Path) -> None:
    lake(tmp_path, [14])
    written(
        tmp_path,
        FILES.replace('{master: "local[2]"}', '{master: "local[1]", config: {spark.sql.shuffle.partitions: 3}}'),
    )
    done = ran(tmp_path, OPEN % "" + LOCAL)
    assert done.stdout.splitlines() == ["True local[1] 127.0.0.1", "false None 3", "None"], done.stderr
    said = [line for line in done.stderr.splitlines() if "incubator" not in line]  # of the JVM itself, since Spark 4
    assert said == []


REMOTE = """    passed = found.gate.judge(found.read("2026-11-14"), "2026-11-14").passed
    print(passed, type(project.session()).__module__)
"""


def test_a_connect_server_is_reached(tmp_path: Path, spark: Any, connect_port: int) -> None:
    lake(tmp_path, [14])
    written(tmp_path, FILES.replace('{master: "local[2]"}', "{remote: '${env:HEADGATE_TEST_REMOTE}'}"))
    done = ran(tmp_path, OPEN % "" + REMOTE, HEADGATE_TEST_REMOTE=f"sc://127.0.0.1:{connect_port}")
    assert done.stdout == "True pyspark.sql.connect.session\n", done.stderr


FAILING = """    try:
        found.read("2026-11-14")
    except Exception as trouble:
        import traceback
        print(type(trouble).__name__, trouble)
        print("".join(traceback.TracebackException.from_exception(trouble, capture_locals=True).format()))
"""


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    lake(tmp_path, [14])
    written(tmp_path, FILES)
    done = ran(tmp_path, OPEN % "" + FAILING, JAVA_HOME="/nowhere")
    assert done.stdout.startswith(
        "EngineUnavailable Spark needs Java, and there is none in JAVA_HOME (/nowhere). Install Java 17"
    )


def test_without_pyspark_it_says_what_to_install(tmp_path: Path) -> None:
    lake(tmp_path, [14])
    written(tmp_path, FILES)
    hide = "import sys\nsys.modules['pyspark'] = None\nsys.modules['pyspark.sql'] = None\n"
    done = ran(tmp_path, hide + OPEN % "" + FAILING)
    assert done.stdout.startswith("EngineUnavailable Spark is not installed. pip install 'headgate[spark]'"), (
        done.stderr
    )


def test_a_server_that_is_not_there_is_told_without_its_token(tmp_path: Path) -> None:
    lake(tmp_path, [14])
    written(
        tmp_path,
        FILES.replace('{master: "local[2]"}', '{remote: "sc://127.0.0.1:9/;token=hunterxcanary;use_ssl=true"}'),
    )
    done = ran(tmp_path, OPEN % "" + FAILING)
    assert done.stdout.startswith("EngineUnavailable the Connect server could not be reached"), done.stderr
    assert "hunterxcanary" not in done.stdout + done.stderr


def test_a_session_that_does_not_start_is_told_without_its_settings(tmp_path: Path) -> None:
    lake(tmp_path, [14])
    config = '{master: "local[0]", config: {spark.hadoop.fs.s3a.secret.key: hunterxcanary}}'
    written(tmp_path, FILES.replace('{master: "local[2]"}', config))
    done = ran(tmp_path, OPEN % "" + FAILING)
    assert re.match("EngineUnavailable (Java started, but Spark did not|Spark could not be started)", done.stdout), (
        done.stderr
    )
    assert "hunterxcanary" not in done.stdout + done.stderr


def test_a_variable_that_is_not_set_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_sources, "active_session", lambda: None)
    lake(tmp_path, [14])
    text = FILES.replace('{master: "local[2]"}', "{remote: '${env:HEADGATE_TEST_NOWHERE}'}")
    with pytest.raises(ConfigError, match=r"headgate.yml:2: spark: the variable HEADGATE_TEST_NOWHERE is not set"):
        Project.open(written(tmp_path, text)).dataset("orders").read("2026-11-14")

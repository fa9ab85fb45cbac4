"""`headgate repair`: what is undone is judged before and after it is staged, and nothing that is published changes."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from headgate.cli.output import schema_text
from headgate.project import repairs
from headgate.project.dataset import Dataset
from tests.cli.lake import called, document
from tests.gate.orders import dearer, emptied, named, orders

DAYS = 12
BAD = named(DAYS)
CONFIG = """\
store: file:history
datasets:
  orders:
    source: {format: parquet, path: "lake/staging/{partition}"}
    publish: lake
    learn: [history]
"""
PLAIN = CONFIG.replace("    publish: lake\n", "").replace("lake/staging", "lake")
DONE = "price is divided by 100"
VALID = jsonschema.Draft202012Validator(json.loads(schema_text()))


def stage(name: str, table: pa.Table, folder: str = "lake/staging") -> Path:
    place = Path(folder, name)
    place.mkdir(parents=True)
    pq.write_table(table, place / "rows.parquet")
    return place


def make_month(folder: Path, config: str, staging: str) -> Path:
    """Good days, judged."""
    (folder / "headgate.yml").write_text(config)
    with contextlib.chdir(folder):
        for day in range(DAYS):
            stage(named(day), orders(day), staging)
        assert called("run", "--quiet").exit_code == 0
    return folder


@pytest.fixture(scope="module")
def published_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_month(tmp_path_factory.mktemp("published"), CONFIG, "lake/staging")


@pytest.fixture(scope="module")
def plain_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_month(tmp_path_factory.mktemp("plain"), PLAIN, "lake")


@pytest.fixture
def held(published_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Good days that are published, and one in cents, which is held."""
    shutil.copytree(published_once, tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    stage(BAD, dearer(orders(DAYS)))
    assert called("run", "--quiet").exit_code == 1
    return tmp_path / "shop"


@pytest.fixture
def plain(plain_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As `held`, of batches that are not published by headgate."""
    shutil.copytree(plain_once, tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    stage(BAD, dearer(orders(DAYS)), "lake")
    assert called("run", "--quiet").exit_code == 1
    return tmp_path / "shop"


def list_files(folder: str = "lake") -> set[tuple[str, int]]:
    return {(str(each), each.stat().st_mtime_ns) for each in Path(folder).rglob("*") if each.is_file()}


def count_revisions() -> int:
    return int(document("explain", "orders", BAD)["verdict"]["revision"])


def assert_original(table: pa.Table) -> None:
    assert pc.round(table["price"], 6).equals(orders(DAYS)["price"])
    assert table.drop_columns(["price"]).equals(orders(DAYS).drop_columns(["price"]))


def test_a_dry_run_says_what_is_undone_and_writes_nothing(held: Path) -> None:
    before, rulings = list_files(), document("explain", "orders", BAD)["rulings"]
    result = called("repair", "orders", BAD, "--dry-run")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"orders {BAD} would pass after this repair: {DONE}.\n"
    assert list_files() == before
    assert count_revisions() == 1
    assert document("explain", "orders", BAD)["rulings"] == rulings


def test_a_repaired_batch_is_staged_judged_and_published_as_a_new_revision(held: Path) -> None:
    result = called("repair", "orders", BAD, "--who", "ann", "--note", "the vendor knows")
    assert result.exit_code == 0, result.stderr
    assert f"orders {BAD} was rejected by ann (repair: {DONE}; the vendor knows)." in result.stdout.splitlines()
    assert f"✓ orders {BAD}  passed, published" in result.stdout
    assert_original(pq.read_table(f"lake/published/{BAD}"))
    assert [each.name for each in Path("lake/staging").iterdir()] == []
    assert len(list(Path("lake/held", BAD).iterdir())) == 1, "the batch as it came stays in quarantine"


def test_that_a_batch_was_repaired_is_shown(held: Path) -> None:
    called("repair", "orders", BAD, "--who", "ann")
    assert f"Repaired: {DONE}" in called("explain", "orders", BAD).stdout
    assert f"Rejected by ann: repair: {DONE}" in called("explain", "orders", BAD, "--revision", "1").stdout
    assert f"repaired: {DONE}" in called("history", "orders").stdout
    verdict = document("explain", "orders", BAD)["verdict"]
    assert (verdict["revision"], verdict["decision"], verdict["repaired"]) == (2, "published", [DONE])


def test_the_document_has_the_trial_and_the_batch(held: Path) -> None:
    explained = document("explain", "orders", BAD)
    VALID.validate(explained)
    assert explained["verdict"]["causes"][0]["diagnosis"]["fault"] == "scaled"
    dry = document("repair", "orders", BAD, "--dry-run")
    VALID.validate(dry)
    assert (dry["would_pass"], dry["repairs"], dry["obstacles"]) == (True, [DONE], [])
    assert (dry["ruling"], dry["location"], dry["batch"]) == (None, None, None)
    done = document("repair", "orders", BAD)
    VALID.validate(done)
    assert done["ruling"]["decision"] == "rejected"
    assert done["location"].endswith(f"lake/staging/{BAD}")
    assert done["batch"]["verdict"]["decision"] == "published"


def test_a_batch_that_would_still_not_pass_is_not_written(held: Path) -> None:
    stage(named(DAYS + 1), emptied(dearer(orders(DAYS + 1)), "country", 0.9))
    assert called("run", "--quiet").exit_code == 1
    before = list_files()
    result = called("repair", "orders", named(DAYS + 1))
    assert result.exit_code == 1
    assert "would still not pass after this repair" in result.stdout
    assert "country" in result.stdout
    assert list_files() == before
    assert document("explain", "orders", named(DAYS + 1))["verdict"]["decision"] == "held"


def test_a_batch_without_a_fault_that_can_be_undone_is_refused_with_the_reason(held: Path) -> None:
    stage(named(DAYS + 1), emptied(orders(DAYS + 1), "country"))
    assert called("run", "--quiet").exit_code == 1
    result = called("repair", "orders", named(DAYS + 1))
    assert result.exit_code == 2
    assert "cannot be repaired here" in result.stderr


def test_a_batch_that_is_published_is_left_alone(held: Path) -> None:
    assert called("release", "orders", BAD).exit_code == 0
    before = list_files()
    for words in ((), ("--dry-run",), ("--to", "repaired.parquet")):
        result = called("repair", "orders", BAD, *words)
        assert result.exit_code == 2
        assert f"orders {BAD} was released." in result.stderr
    assert list_files() == before
    assert not Path("repaired.parquet").exists()


def test_a_batch_that_was_only_observed_is_not_replaced(held: Path) -> None:
    observe = ("--set", "datasets.orders.mode=observe")
    stage(named(DAYS + 1), dearer(orders(DAYS + 1)))
    assert called("run", *observe).exit_code == 0
    before = list_files()
    refused = called("repair", "orders", named(DAYS + 1), *observe)
    assert refused.exit_code == 2
    assert f"orders {named(DAYS + 1)} is left alone: readers have it." in refused.stderr
    assert called("repair", "orders", named(DAYS + 1), "--dry-run", *observe).exit_code == 0
    assert list_files() == before


def test_the_older_revision_is_not_staged_over_a_newer_one(held: Path) -> None:
    stage(BAD, orders(DAYS))
    assert called("run").exit_code == 0
    result = called("repair", "orders", BAD, "--revision", "1")
    assert result.exit_code == 2
    assert "readers have a newer revision of it" in result.stderr
    assert_original(pq.read_table(f"lake/published/{BAD}"))


def test_another_input_that_waits_is_judged_first(held: Path) -> None:
    stage(BAD, orders(DAYS))
    result = called("repair", "orders", BAD)
    assert result.exit_code == 2
    assert "another input" in result.stderr
    assert document("explain", "orders", BAD)["verdict"]["decision"] == "held"


def test_a_held_batch_whose_files_were_changed_is_refused(held: Path) -> None:
    [file] = Path("lake/held", BAD).rglob("*.parquet")
    pq.write_table(orders(DAYS), file)
    result = called("repair", "orders", BAD)
    assert result.exit_code == 3
    assert "other files than those that were judged" in result.stderr


def test_a_rejected_batch_can_be_repaired_and_what_a_kill_left_is_overwritten(held: Path) -> None:
    assert called("reject", "orders", BAD, "--note", "in cents").exit_code == 0
    draft = Path("lake/staging", f".{BAD}~repaired")
    draft.mkdir()
    (draft / "half.parquet").write_bytes(b"PAR1")
    assert "nothing waits" in called("run").stdout
    assert called("repair", "orders", BAD).exit_code == 0
    assert_original(pq.read_table(f"lake/published/{BAD}"))


@pytest.mark.parametrize("call", ["repair", "run"])
def test_a_repair_that_was_interrupted_is_ended(held: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Before the rows are staged by another repair, after that by a run. That it was repaired is recorded first."""

    def stop(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*((repairs, "stage_repaired", stop) if call == "repair" else (Dataset, "judge", stop)))
        assert called("repair", "orders", BAD).exit_code == 130
    explained = document("explain", "orders", BAD)
    assert explained["verdict"]["decision"] == "rejected"
    assert explained["rulings"][-1]["note"] == f"repair: {DONE}"
    assert called(*(("repair", "orders", BAD) if call == "repair" else ("run",))).exit_code == 0
    assert count_revisions() == 2
    assert_original(pq.read_table(f"lake/published/{BAD}"))


def test_formats_that_may_change_types_are_not_staged(held: Path) -> None:
    result = called("repair", "orders", BAD, "--set", "datasets.orders.source.format=csv")
    assert result.exit_code == 2
    assert "is staged as csv" in result.stderr
    assert "--to PATH" in result.stderr


def test_orc_is_staged_as_orc(held: Path) -> None:
    rows = dearer(orders(DAYS))
    repairs._write_table(rows, "rows.orc", "orc")
    import pyarrow.orc as orc

    assert orc.read_table("rows.orc").equals(rows)


# --- sources that headgate does not publish


def test_a_batch_that_has_no_staging_is_refused_with_what_to_do(plain: Path) -> None:
    result = called("repair", "orders", BAD)
    assert result.exit_code == 2
    assert "there is no staging to write to" in result.stderr
    assert "--to PATH" in result.stderr
    assert called("repair", "orders", BAD, "--dry-run").exit_code == 0


def test_the_repaired_rows_are_written_to_a_file(plain: Path) -> None:
    before = list_files()
    result = called("repair", "orders", BAD, "--to", "repaired.parquet", "--who", "ann")
    assert result.exit_code == 0, result.stderr
    path = plain / "repaired.parquet"
    assert f"orders {BAD} was rejected by ann (repair to {path}: {DONE})." in result.stdout.splitlines()
    assert_original(pq.read_table(path))
    assert list_files() == before
    assert count_revisions() == 1
    shutil.copy(path, f"lake/{BAD}/rows.parquet")  # in its place it waits, and is judged
    assert called("run").exit_code == 0
    assert count_revisions() == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--to", "headgate.yml"), "there is something at"),
        (("--to", "nowhere/repaired.parquet"), "there is no folder"),
        (("--to", "s3://lake/repaired.parquet"), "is an address"),
        (("--to", "repaired.parquet", "--dry-run"), "--dry-run writes nothing"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    plain: Path, words: tuple[str, ...], why: str
) -> None:
    result = called("repair", "orders", BAD, *words)
    assert result.exit_code == 2
    assert why in result.stderr
    assert document("explain", "orders", BAD)["verdict"]["decision"] == "held"


def test_files_that_have_changed_since_are_refused(plain: Path) -> None:
    pq.write_table(orders(DAYS), f"lake/{BAD}/rows.parquet")
    result = called("repair", "orders", BAD, "--dry-run")
    assert result.exit_code == 2
    assert "have changed since revision 1" in result.stderr


def test_batches_that_are_judged_elsewhere_are_refused(plain: Path) -> None:
    text = Path("headgate.yml").read_text()
    source = text[text.index("source:") : text.index("\n    learn")]
    Path("headgate.yml").write_text(text.replace(source, "source: elsewhere"))
    result = called("repair", "orders", BAD)
    assert result.exit_code == 2
    assert "are judged elsewhere" in result.stderr


def test_an_estimate_is_written_only_if_it_is_allowed(plain: Path) -> None:
    good = orders(DAYS + 1)
    at = good.column_names.index("price")
    odd = good.set_column(at, "price", pc.multiply(good["price"], 17.3456789))
    stage(named(DAYS + 1), odd, "lake")
    assert called("run", "--quiet").exit_code == 1
    refused = called("repair", "orders", named(DAYS + 1), "--to", "repaired.parquet")
    assert refused.exit_code == 2
    assert "is not written: the repair is an estimate" in refused.stderr
    assert "--allow-estimate" in refused.stderr
    assert not Path("repaired.parquet").exists()
    done = called("repair", "orders", named(DAYS + 1), "--to", "repaired.parquet", "--allow-estimate")
    assert done.exit_code == 0
    assert "(estimated)" in done.stdout
    assert pc.mean(pq.read_table("repaired.parquet")["price"]).as_py() == pytest.approx(
        pc.mean(good["price"]).as_py(), rel=0.1
    )

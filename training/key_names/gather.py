"""`python -m training.key_names.gather FOLDER`: reads schemas out of published packages into schemas.csv.

FOLDER holds the wheels and jars named below. Rows of projects whose package is not there stay as they are: those
that were read by hand (SOURCES.md says which) have no package.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from training.key_names.alchemy import tables_of_models
from training.key_names.django import tables_of_migrations
from training.key_names.rows import Row, read_rows, write_rows
from training.key_names.sql import tables_of_sql
from training.key_names.tables import Table

MOST = 250  # columns of one project, so that none of them teaches its own habits to the whole


class Package(NamedTuple):
    """A published archive, the files in it that hold the schema, and the reader they need."""

    archive: str
    files: str
    reader: str


MIGRATIONS = r"/migrations/\d{4}\w*\.py$"
PACKAGES = {
    "synapse": Package("matrix_synapse-*", r"(main|state)/full_schemas/72/full\.sql\.postgres$", "postgres"),
    "camunda": Package("camunda-engine-*", r"db/create/activiti\.mysql\.create\.\S*\.sql$", "mysql"),
    "quartz": Package("quartz-*", r"jdbcjobstore/tables_mysql_innodb\.sql$", "mysql"),
    "spring-batch": Package("spring-batch-core-*", r"core/schema-mysql\.sql$", "mysql"),
    "dspace": Package("dspace-api-*", r"postgres/V1\.1__\S*\.sql$", "postgres"),
    "killbill": Package("killbill-*", r"/ddl\.sql$", "mysql"),
    "pretix": Package("pretix-*", r"pretix/base" + MIGRATIONS, "django"),
    "wagtail": Package("wagtail-*", r"^wagtail/(?!test)\S*" + MIGRATIONS, "django"),
    "django-oscar": Package("django_oscar-*", MIGRATIONS, "django"),
    "misago": Package("misago-*", MIGRATIONS, "django"),
    "kiwitcms": Package("kiwitcms-*", MIGRATIONS, "django"),
    "hyperkitty": Package("hyperkitty-*", MIGRATIONS, "django"),
    "django-helpdesk": Package("django_helpdesk-*", MIGRATIONS, "django"),
    "weblate": Package("weblate-*", MIGRATIONS, "django"),
    "label-studio": Package("label_studio-*", MIGRATIONS, "django"),
    "askbot": Package("askbot-*", MIGRATIONS, "django"),
    "pulpcore": Package("pulpcore-*", r"pulpcore/app" + MIGRATIONS, "django"),
    "nautobot": Package("nautobot-*", r"nautobot/(dcim|ipam|circuits|tenancy)" + MIGRATIONS, "django"),
    "mayan-edms": Package("mayan_edms-*", MIGRATIONS, "django"),
    "arches": Package("arches-*", MIGRATIONS, "django"),
    "airflow": Package("apache_airflow_core-*", r"airflow/models/\w+\.py$", "alchemy"),
    "superset": Package("apache_superset-*", r"^superset/(models|connectors)/\S*\.py$", "alchemy"),
    "mlflow": Package("mlflow-*", r"dbmodels/models\.py$", "alchemy"),
    "jupyterhub": Package("jupyterhub-*", r"jupyterhub/orm\.py$", "alchemy"),
    "mailman": Package("mailman-*", r"mailman/model/\w+\.py$", "alchemy"),
    "nova": Package("nova-*", r"nova/db/(main|api)/models\.py$", "alchemy"),
    "keystone": Package("keystone-*", r"keystone/\S*(sql|models?)\w*\.py$", "alchemy"),
    "glance": Package("glance-*", r"glance/db/sqlalchemy/models\w*\.py$", "alchemy"),
    "buildbot": Package("buildbot-*", r"buildbot/db/model\.py$", "alchemy"),
    "galaxy": Package("galaxy_data-*", r"galaxy/model/__init__\.py$", "alchemy"),
    "aiida": Package("aiida_core-*", r"psql_dos/models/\w+\.py$", "alchemy"),
    "ckan": Package("ckan-*", r"^ckan/model/\w+\.py$", "alchemy"),
    "privacyidea": Package("privacyidea-*", r"privacyidea/models/?\w*\.py$", "alchemy"),
    "indico": Package("indico-*", r"^indico/modules/\S*/models/\w+\.py$", "alchemy"),
}


def tables_of(package: Package, folder: Path) -> list[Table]:
    """The tables of all archives of a package; two tables of one name count once."""
    files: dict[str, str] = {}
    for path in sorted(folder.glob(package.archive)):
        with zipfile.ZipFile(path) as archive:
            wanted = [name for name in archive.namelist() if re.search(package.files, name) and "/tests/" not in name]
            files |= {name: archive.read(name).decode("utf-8", "replace") for name in wanted}
    if package.reader == "django":
        return tables_of_migrations(files)
    if package.reader == "alchemy":
        return tables_of_models(files[name] for name in sorted(files))
    return tables_of_sql(";\n".join(files[name] for name in sorted(files)), package.reader)


def rows_of(project: str, tables: list[Table]) -> list[Row]:
    """Whole tables, in an order that is arbitrary but fixed, until there are enough columns."""
    rows: list[Row] = []
    for table in sorted({each.name: each for each in tables}.values(), key=lambda each: crc32(each.name.encode())):
        if len(rows) + len(table.columns) <= MOST:
            unique = table.unique()
            rows += [Row(project, table.name, name, kind, name in unique) for name, kind in table.columns.items()]
    return rows


def main(folder: Path) -> None:
    kept: dict[str, list[Row]] = {}
    for row in read_rows():
        kept.setdefault(row.project, []).append(row)
    for project, package in PACKAGES.items():
        if any(folder.glob(package.archive)):
            kept[project] = rows_of(project, tables_of(package, folder))
            print(f"{project}: {len(kept[project])} columns, {sum(row.is_unique for row in kept[project])} unique")
    write_rows(row for project in sorted(kept) for row in kept[project])


if __name__ == "__main__":
    main(Path(sys.argv[1]))

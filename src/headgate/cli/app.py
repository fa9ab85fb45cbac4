"""The program `headgate`: its commands, its global options, and its handler of unexpected errors.

Tested by `tests/cli/test_help.py` (commands and options), `tests/cli/test_start.py` (what is imported) and
`tests/cli/test_errors.py` (errors and pipes)."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from headgate.cli import errors
from headgate.cli.commands import (
    backtest,
    calibrate,
    check,
    explain,
    history,
    index,
    learn,
    mutes,
    profile,
    recover,
    repair,
    report,
    results,
    rows,
    rulings,
    run,
    split,
    suggest,
)
from headgate.cli.doctor.doctor import doctor
from headgate.cli.init.init import init
from headgate.cli.output import schema_text
from headgate.values.version import __version__

# Plain help: drawing it with rich would cost more time than everything else that --help does.
app = typer.Typer(
    name="headgate",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

# In the order in which a user meets them. A short help must fit on one line of the command list.
for name, function, short in (
    ("init", init, "Write a first headgate.yml, or a demo to try."),
    ("profile", profile.profile, "Show every column of a file or a batch at a glance."),
    ("suggest", suggest.suggest, "Suggest checks from the data, as YAML or Python."),
    ("check", check.check, "Hold a file or a batch against checks, once."),
    ("learn", learn.learn, "Judge what a table has already: a history on day one."),
    ("run", run.run, "Judge every batch that waits; publish or hold it."),
    ("recover", recover.recover, "Finish what an interrupted command has left."),
    ("explain", explain.explain, "Say again why a batch was published or held."),
    ("rows", rows.rows, "Show the rows of a batch that break something."),
    ("accept", rulings.accept, "Say that a batch was right: publish it, learn from it."),
    ("reject", rulings.reject, "Say that a batch was wrong: learn nothing from it."),
    ("release", rulings.release, "Publish a held batch as it is, learn nothing from it."),
    ("discard", rulings.discard, "Drop a held batch for good."),
    ("repair", repair.repair, "Undo the faults of a held batch, and judge the result."),
    ("split", split.split, "Publish the good rows of a held batch, keep the bad ones."),
    ("mute", mutes.mute, "Let a column hold nothing for some time."),
    ("unmute", mutes.unmute, "End a mute before its time."),
    ("history", history.history, "List the runs of a dataset, or one metric over them."),
    ("backtest", backtest.backtest, "Try budgets on the recorded past."),
    ("calibrate", calibrate.calibrate, "Gather evidence from your own tables."),
    ("report", report.report, "Write HTML pages of batches, datasets, or all."),
    ("results", results.results, "Write verdicts, metrics and causes to tables."),
    ("doctor", doctor, "Check this machine and the configuration."),
):
    app.command(name, short_help=short)(function)
app.add_typer(index.app, name="index", short_help="Build and ask an index of patterns.")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headgate {__version__}")
        raise typer.Exit


def _print_schema(wanted: bool) -> None:
    if wanted:
        typer.echo(schema_text(), nl=False)
        raise typer.Exit


@app.callback()
def headgate(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
    json_schema: Annotated[
        bool,
        typer.Option(
            "--json-schema", callback=_print_schema, is_eager=True, help="Print the schema of --output-json and end."
        ),
    ] = False,
) -> None:
    """Judge every new batch of your recurring tables, and hold what is wrong, with the reason.

    \b
    Examples:
      headgate init --demo
      headgate run
      headgate explain orders 2026-11-14

    Exit codes: 0 passed, 1 data failed, 2 wrong usage or configuration, 3 could not evaluate, 4 decided but an
    alert, report or results could not be delivered.
    """


def main() -> None:
    """Run the program; this is the entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            # A terminal that cannot print a character gets a replacement instead of a UnicodeEncodeError.
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(prog_name="headgate")
    except KeyboardInterrupt:
        raise SystemExit(errors.exit_code_of(KeyboardInterrupt())) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
    except Exception as error:
        sys.stderr.write(errors.redact_secrets(errors.describe_error(error)) + "\n")
        raise SystemExit(errors.exit_code_of(error)) from None

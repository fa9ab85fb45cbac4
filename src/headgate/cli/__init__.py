"""The command line: one file per command; `app.main` is the program `headgate`."""

from headgate.values.extras import import_extra

import_extra("typer", "the command line needs typer.", "cli")

"""The command line: one file per command; `app.main` is the program `headgate`."""

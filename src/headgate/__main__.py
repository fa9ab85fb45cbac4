"""`python -m headgate` is the command `headgate`."""

from __future__ import annotations

import sys

from headgate.values.errors import MisuseError


def main() -> None:
    """Run the command line; without its extra, say what to install. This is the entry point of the console script."""
    try:
        from headgate.cli.app import main as run
    except MisuseError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    run()


if __name__ == "__main__":
    main()

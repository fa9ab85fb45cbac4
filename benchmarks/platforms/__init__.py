"""Whether the package installs and runs beside what platforms have: `make platforms`."""

"""The page of all commands, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from headgate.cli.app import app
from headgate.cli.exit_codes import MEANINGS

HEAD = """# Commands

Written by `make docs` from the commands themselves; do not edit. How they work together, what they print and what
`--output-json` holds: [the guide](../guides/command-line.md).
"""
SHARED = ("config", "set_", "output_json", "verbose", "quiet", "no_color")


def commands_page() -> str:
    group = typer.main.get_command(app)
    found = list(_commands(group, ()))
    parts = [HEAD, _listed(found), _of_all(found), _codes()]
    return "\n".join([*parts, *(_section(path, each) for path, each in found)])


def _commands(group: Any, before: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from _commands(each, (*before, name))
        else:
            yield " ".join((*before, name)), each


def _listed(found: list[tuple[str, Any]]) -> str:
    lines = ["| command | what it does |", "|---|---|"]
    lines += [
        f"| [`headgate {path}`](#headgate-{path.replace(' ', '-')}) | {each.short_help} |" for path, each in found
    ]
    return "\n".join([*lines, ""])


def _of_all(found: list[tuple[str, Any]]) -> str:
    """The options that commands share, told once."""
    every = {param.name: param for _, each in found for param in each.params if param.name in SHARED}
    words = "Every command takes these; those that read no configuration take neither `--config` nor `--set`."
    more = (
        "`headgate --version` prints the version, `headgate --json-schema` the schema of `--output-json`, and\n"
        "`headgate --install-completion` teaches your shell to complete commands, options and datasets."
    )
    return "\n".join(["## Options of all commands\n", words, "", *_table(every[name] for name in SHARED), "", more, ""])


def _codes() -> str:
    lines = [f"| {code} | {meaning} |" for code, meaning in MEANINGS.items()]
    return "\n".join(["## Exit codes\n", "| code | meaning |", "|---|---|", *lines, ""])


def _section(path: str, each: Any) -> str:
    says, _, examples = inspect.cleandoc(each.help).replace("\b\n", "").partition("Examples:\n")
    usage = f"headgate {path} {' '.join(_usage(each))}".strip()
    own = [param for param in each.params if param.name not in SHARED]
    code = "\n".join(line.removeprefix("  ") for line in examples.splitlines())
    parts = [f"## headgate {path}\n", says.strip(), f"\n```text\n{usage}\n```\n"]
    parts += [*_table(own), ""] if own else []
    return "\n".join([*parts, f"```bash\n{code}\n```\n"])


def _usage(each: Any) -> Iterator[str]:
    yield "[OPTIONS]"
    for param in each.params:
        if param.param_type_name == "argument":
            name = f"{_metavar(param)}{'...' if param.nargs == -1 else ''}"
            yield name if param.required else f"[{name}]"


def _table(params: Any) -> list[str]:
    return ["| option | meaning |", "|---|---|", *(f"| {_names(param)} | {_meaning(param)} |" for param in params)]


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{_metavar(param)}`".replace("|", "\\|")
    value = "" if param.is_flag or param.count else f" {_metavar(param)}"
    return ", ".join(f"`{name}{value}`" for name in sorted(param.opts, key=len, reverse=True)).replace("|", "\\|")


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _meaning(param: Any) -> str:
    default = param.default
    told = default not in (None, False, 0, "", [], ...) and param.show_default and not callable(default)
    said = f" Default: `{getattr(default, 'value', default)}`." if told else ""
    variable = f" Also the variable `{param.envvar}`." if getattr(param, "envvar", None) else ""
    return (str(param.help) + said + variable).replace("|", "\\|").replace("<", "\\<")

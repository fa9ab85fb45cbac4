"""The methods of a check, one for every constraint. `make docs` writes `methods.pyi`, which editors read."""

from __future__ import annotations

from typing import Any

from headgate.checks.constraint import constraints
from headgate.values.errors import did_you_mean


class Methods:
    """Turns `check.has_mean("price", at_least=5)` into `check.with_rule("has_mean", ...)`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = constraints()
        if name not in known:
            raise AttributeError(f"a check has no {name!r}; {did_you_mean(name, known)}")

        def method(*arguments: Any, **named: Any) -> Any:
            return self.with_rule(name, *arguments, **named)

        method.__name__ = name
        method.__doc__ = known[name].says
        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *constraints()]

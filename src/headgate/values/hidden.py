"""Texts that contain secrets, or refer to environment variables that do."""

from __future__ import annotations

import os
import re

from headgate.values.errors import ConfigError

_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")


class Hidden:
    """A text that never prints. `${env:NAME}` in it stands for a variable, which is read only when the text is used.

    >>> Hidden("https://example.org/T0/secret"), Hidden("${env:SLACK_URL}"), Hidden("Bearer ${env:TOKEN}")
    (***, ${env:SLACK_URL}, ***)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text if _REFERENCE.fullmatch(self._text) else "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @property
    def is_literal(self) -> bool:
        return not self.names

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that the text refers to.

        >>> Hidden("postgresql://${env:USER}:${env:PASSWORD}@host/db").names
        ('USER', 'PASSWORD')
        """
        return tuple(_REFERENCE.findall(self._text))

    @property
    def missing(self) -> tuple[str, ...]:
        """The referenced variables that are not set."""
        return tuple(name for name in self.names if not os.environ.get(name, "").strip())

    def template(self) -> str:
        """The text as it was written, for a caller that hides it again."""
        return self._text

    def reveal(self) -> str:
        """The text with variables replaced. The caller must not let a library's errors propagate: they may quote it."""
        for name in self.missing:
            raise ConfigError(f"the variable {name} is not set.", hint=f"Set it where this runs: export {name}=...")
        return _REFERENCE.sub(lambda found: os.environ[found[1]].strip(), self._text)

"""A configuration as plain data, with the place of every key: a line of the file, or the setting that said it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import yaml

from headgate.checks.check import Check
from headgate.checks.yaml_form import read_nodes
from headgate.checks.yaml_nodes import BadCheckFile, Node, kind_of, line_of, nodes_of, value_of
from headgate.project.error_text import format_value, key_path
from headgate.values.errors import Mistake

KeyPath: TypeAlias = tuple[str | int, ...]

_EMPTY_HINT = "Write store: and datasets:, or let headgate init write the file."
_NULL = "tag:yaml.org,2002:null"
_SYNTAX_HINTS = {
    "\\t": "Indent with spaces, not with tabs.",
    "mapping values": "Put a text with a colon in quotes, and keys of one level in one column.",
    "expected ':'": "Write key: value, with a space behind the colon.",
    "expected <block end>": "Keys of one level stand in one column; look at the indentation.",
    "cannot start any token": "Put a text that begins with @, `, % or * in quotes.",
    "end of stream": "Close the quotes or the bracket.",
    "',' or": "Close the bracket, and put commas between.",
    "document": "Put the value in quotes.",
}


class Tree:
    """What was read: `data` for the models, `places` of its keys, and the `mistakes` that were met on the way."""

    def __init__(
        self, file: str, text: str, settings: Mapping[str, str], example_hint: Callable[[KeyPath], str] = lambda _: ""
    ) -> None:
        self.data: dict[str, Any] = {}
        self.places: dict[KeyPath, str] = {}
        self.mistakes: list[Mistake] = []
        self._file = file
        self._example_hint = example_hint
        self._from_settings: dict[
            int, tuple[Node, str]
        ] = {}  # nodes that come from settings; kept, so that ids stay theirs
        root = self._read_root(text)
        if root is None:
            return
        for name, value in settings.items():
            self._apply_setting(root, name, value)
        self.data = self._read_mapping(root, (), "")

    def __repr__(self) -> str:
        return f"Tree({self._file})"

    def find_place(self, path: KeyPath) -> str:
        """Where a key is, or the nearest one around it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, f"{self._file}:1")

    def _read_root(self, text: str) -> yaml.MappingNode | None:
        try:
            root = nodes_of(text)
        except BadCheckFile as trouble:
            self._add_mistake(f"{self._file}:{trouble.line}", (), *_explain_syntax(trouble))
            return None
        if not isinstance(root, yaml.MappingNode):
            self._add_mistake(
                f"{self._file}:{line_of(root)}",
                (),
                f"the file is a mapping of keys, not {_describe_node(root)}.",
                _EMPTY_HINT,
            )
            return None
        return root

    def _add_mistake(self, where: str, path: KeyPath, message: str, hint: str) -> None:
        self.mistakes.append(Mistake(where, key_path(path), message, hint))

    # --- settings: the nodes of a value, in the place of those of the file

    def _apply_setting(self, root: yaml.MappingNode, name: str, text: str) -> None:
        where = f"--set {format_setting(name)}"
        try:
            value = nodes_of(text) if text.strip() else yaml.ScalarNode(_NULL, "", *_marks_of(root))
            if isinstance(value, yaml.CollectionNode) and not value.flow_style:
                # "memory:" is meant as a text; a mapping in one line has braces
                value = yaml.ScalarNode("tag:yaml.org,2002:str", text, *_marks_of(root), style='"')
        except BadCheckFile as trouble:
            return self._add_mistake(where, (), *_explain_syntax(trouble))
        node: Node = root
        steps = _split_setting(root, name)
        for at, step in enumerate(steps):
            last = at + 1 == len(steps)
            inner = self._step_into(node, step, value if last else None, where)
            if inner is None:
                path = key_path(tuple(steps[:at]))
                return self._add_mistake(
                    where, (), f"{path or name} has no {step!r}.", "Name keys as the file nests them."
                )
            node = inner
        return None

    def _step_into(self, node: Node, step: str, value: Node | None, where: str) -> Node | None:
        """The node under a key, put there if `value` is given or nothing is there yet."""
        if isinstance(node, yaml.SequenceNode):
            if not step.isdecimal() or int(step) >= len(node.value):
                return None
            at = int(step)
            if value is not None:
                node.value[at] = self._mark_as_setting(value, where)
            return node.value[at]  # type: ignore[no-any-return]
        if not isinstance(node, yaml.MappingNode):
            return None
        known = [at for at, (key, _) in enumerate(node.value) if getattr(key, "value", None) == step]
        if known and value is None:
            return node.value[known[0]][1]  # type: ignore[no-any-return]
        key = yaml.ScalarNode("tag:yaml.org,2002:str", step, *_marks_of(node), style='"')
        put = self._mark_as_setting(value or yaml.MappingNode("tag:yaml.org,2002:map", [], *_marks_of(node)), where)
        for at in reversed(known):
            del node.value[at]
        node.value.insert(known[0] if known else len(node.value), (self._mark_as_setting(key, where), put))
        return put

    def _mark_as_setting(self, node: Node, where: str) -> Node:
        self._from_settings[id(node)] = node, where
        return node

    # --- from nodes to data

    def _locate_node(self, node: Node, inherited: str) -> str:
        setting = self._from_settings.get(id(node))
        return setting[1] if setting else inherited or f"{self._file}:{line_of(node)}"

    def _read_value(self, node: Node, path: KeyPath, inherited: str) -> Any:
        inherited = self._from_settings[id(node)][1] if id(node) in self._from_settings else inherited
        if len(path) == 3 and path[0] == "datasets" and path[2] == "checks" and not _is_null(node):
            return self._read_checks(node, path, inherited)
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, path, inherited)
        if isinstance(node, yaml.SequenceNode):
            found = []
            for at, each in enumerate(node.value):
                self.places[(*path, at)] = self._locate_node(each, inherited)
                found.append(self._read_value(each, (*path, at), inherited))
            return found
        if _is_null(node):
            hint = self._example_hint(path).removesuffix(".") or "Write a value behind it"
            self._add_mistake(self._locate_node(node, inherited), path, "it says nothing.", f"{hint}, or leave it out.")
            return None
        try:
            return value_of(node)
        except BadCheckFile as trouble:
            self._add_mistake(self._locate_node(node, inherited), path, *_split_error(trouble))
            return None

    def _read_mapping(self, node: yaml.MappingNode, path: KeyPath, inherited: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            where = self._locate_node(key, inherited)
            if not isinstance(key, yaml.ScalarNode):
                self._add_mistake(where, path, f"a key is a word, not {kind_of(key)}.", "Write key: value.")
            elif key.value in found:
                first = self.places[(*path, key.value)]
                hint = "Leave one of them out."
                self._add_mistake(where, (*path, key.value), f"it is said twice; first at {first}.", hint)
            else:
                inner = (*path, key.value)
                self.places[inner] = where
                found[key.value] = self._read_value(value, inner, inherited)
        return found

    def _read_checks(self, node: Node, path: KeyPath, inherited: str) -> Check:
        """Rule by rule, so that every mistake is told."""
        name = str(path[1])
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        good = []
        for at, item in enumerate(items):
            one = yaml.SequenceNode("tag:yaml.org,2002:seq", [item], *_marks_of(item)) if item is not node else node
            try:
                read_nodes(one)
                good.append(item)
            except BadCheckFile as trouble:
                inside = (*path, at) if item is not node else path
                where = inherited or f"{self._file}:{trouble.line}"
                message, hint = _split_error(trouble)
                self._add_mistake(where, inside, message, hint or "docs/constraints.md lists what there is.")
        return Check(name).with_rules(read_nodes(yaml.SequenceNode("tag:yaml.org,2002:seq", good, *_marks_of(node))))


def check_of(items: Any, name: str = "checks") -> Check:
    """A check from plain lists and mappings, as a model that is made in Python has them."""
    return Check(name).with_rules(read_nodes(nodes_of(yaml.safe_dump(list(items), allow_unicode=True))))


def format_setting(name: str) -> str:
    return format_value(name).strip("'")


def _split_setting(root: Node, name: str) -> list[str]:
    """The keys that a dotted name goes through; names with dots in them are known from the file.

    >>> _split_setting(nodes_of("datasets: {shop.orders: {runs: 3}}"), "datasets.shop.orders.runs")
    ['datasets', 'shop.orders', 'runs']
    """
    steps: list[str] = []
    node: Node | None = root
    while True:
        known = {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
        fitting = [key for key in known if name == key or name.startswith(f"{key}.")]
        step = max(fitting, key=len) if fitting else name.partition(".")[0]
        steps.append(step)
        if len(name) <= len(step):
            return steps
        is_list = isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value)
        node = node.value[int(step)] if is_list and node is not None else known.get(step)
        name = name[len(step) + 1 :]


def _marks_of(node: Node) -> tuple[Any, Any]:
    return node.start_mark, node.end_mark


def _is_null(node: Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null", "Null", "NULL")


def _describe_node(node: Node) -> str:
    return format_value(node.value) if isinstance(node, yaml.ScalarNode) else kind_of(node)


def _split_error(trouble: BadCheckFile) -> tuple[str, str]:
    message = str(trouble).removesuffix(trouble.hint).strip().removeprefix(f"line {trouble.line}: ")
    return message, trouble.hint


def _explain_syntax(trouble: BadCheckFile) -> tuple[str, str]:
    """The words of the parser, with what to write."""
    message, hint = _split_error(trouble)
    if "empty" in message:
        return message, _EMPTY_HINT
    if "characters; " in message or "more than" in message:
        return message, "Split the project into several files."
    known = next((write for word, write in _SYNTAX_HINTS.items() if word in message), "")
    return message, hint or known or "Put texts with special characters in quotes, and indent with two spaces."

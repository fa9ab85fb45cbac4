"""Bounds what matching a regular expression costs an engine that backtracks, as Java's does, and refuses slow patterns.

A backtracking engine follows every way in which a pattern can read the beginning of a text. The states of the position
automaton (Glushkov 1961) are the characters of the pattern; two states that one text can lead to are found in its
product with itself. If one text leads a loop back to a state in two ways, the ways double with every turn: the cost is
exponential (Weber and Seidl 1991; Weideman et al. 2016). Else the number of ways to each state is bounded here from
loop to loop, and the pattern is refused if their sum is too large. Java since 9 remembers where some loops have failed
and is faster than the bound on these; the bound holds for every version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar

from headgate.metrics.base.regex_syntax import (
    ANY,
    Chars,
    Choice,
    Empty,
    Node,
    Repeat,
    Sequence,
    parse_regex,
    without_leading_any,
)
from headgate.values.errors import BadPredicate

LENGTH = 10_000  # characters of a hostile value
MOST_WAYS = 8 * LENGTH  # to all states together: the value is read so many times, in parts
_MOST_STATES = 1_500
_MOST_STEPS = 1_000_000  # between pairs of states: a second of analysis, about
_WRITTEN_OUT = 64  # the most times that a part which is repeated exactly is written out
_FEW = 8  # the most times that a character of a range of counts is written out
_START = 0

N = TypeVar("N", bound=Hashable)
State: TypeAlias = int
Pair: TypeAlias = tuple[State, State]


def refuse_slow_regex(pattern: str, java: bool = False) -> None:
    """Raise if Java could need more than a second or so to match a pattern with a value of 10,000 characters.

    >>> refuse_slow_regex(r"^[A-Z]{2}[0-9]+(-[0-9]+)*$")
    >>> refuse_slow_regex(r"^([0-9]+)*$")
    Traceback (most recent call last):
        ...
    headgate.values.errors.BadPredicate: '^([0-9]+)*$': '([0-9]+)*' can read one text in very many ways...
    """
    why = _why_slow(pattern, java)
    if why is not None:
        raise BadPredicate(*why)


@cache
def _why_slow(pattern: str, java: bool) -> tuple[str, str] | None:
    """The message and the hint of the error; None if the pattern is fast."""
    try:
        read = pattern if java else without_leading_any(pattern)
        automaton = _Automaton(parse_regex(read, java))
        if not automaton.has_few_pairs():
            return f"{pattern!r} is too long to tell whether it matches fast.", "Say it in several checks."
        slow = automaton.find_exponential() or automaton.find_polynomial()
    except BadPredicate as error:
        return str(error).removesuffix(error.hint).strip(), error.hint
    except RecursionError:
        return f"{pattern!r} is nested too deeply.", "Say it in several checks."
    if slow is None:
        return None
    part = read[slow.span[0] : slow.span[1]]
    return f"{pattern!r}: {part!r} {slow.what}, so that matching may take very long.", slow.hint


class _Slow(NamedTuple):
    span: tuple[int, int]
    what: str
    hint: str


class _Fragment(NamedTuple):
    """A part of the automaton: the states it begins and ends with, each with its number of ways, and the number of ways
    to read nothing. `free` are the states after which nothing must hold, `skips` says the same of reading nothing."""

    first: Counter[State]
    last: Counter[State]
    empty: int
    free: frozenset[State]
    skips: bool


class _Automaton:
    """The states of a pattern, the edges between them with their number of ways, and the loops."""

    def __init__(self, tree: Node) -> None:
        self.masks = [ANY]
        self.spans = [tree.span]
        self.edges: dict[State, Counter[State]] = {_START: Counter()}
        self.turns: dict[State, int] = {}  # how often a state can follow itself, where that is bounded
        self.loops: list[tuple[int, int]] = []  # where repeated parts stand in the pattern
        whole = self.build(tree)
        self.ends = whole.free  # whoever gets there has found the pattern
        self.edges[_START] += whole.first
        if not _is_anchored(tree):  # it is searched for, from every character on
            self.edges[_START][_START] += 1
        self.components = _find_components(range(len(self.masks)), lambda state: self.edges[state])
        self.component_of = {state: at for at, states in enumerate(self.components) for state in states}

    # --- building

    def build(self, node: Node) -> _Fragment:
        match node:
            case Chars(mask, span):
                return self.add_state(mask, span)
            case Empty():
                return _Fragment(Counter(), Counter(), 1, frozenset(), not node.condition)
            case Sequence(parts):
                return self.join([self.build(part) for part in parts])
            case Choice(parts):
                built = [self.build(part) for part in parts]
                first = sum((each.first for each in built), Counter[State]())
                last = sum((each.last for each in built), Counter[State]())
                empty, free = (
                    min(2, sum(each.empty for each in built)),
                    frozenset[State]().union(*(each.free for each in built)),
                )
                return _Fragment(first, last, empty, free, any(each.skips for each in built))
            case Repeat():
                self.loops.append(node.span)
                return self.build_repeat(node)

    def add_state(self, mask: int, span: tuple[int, int]) -> _Fragment:
        if len(self.masks) >= _MOST_STATES:
            raise BadPredicate(
                f"a pattern has more than {_MOST_STATES:,} characters, with repetitions written out.",
                hint="Say it in several checks.",
            )
        state = len(self.masks)
        self.masks.append(mask)
        self.spans.append(span)
        self.edges[state] = Counter()
        return _Fragment(Counter([state]), Counter([state]), 0, frozenset([state]), False)

    def join(self, parts: Iterable[_Fragment]) -> _Fragment:
        first, last, empty, free, skips = Counter[State](), Counter[State](), 1, frozenset[State](), True
        for part in parts:
            self.connect(last, part.first)
            first = first + _times(part.first, empty)
            last = part.last + _times(last, part.empty)
            empty = min(2, empty * part.empty)
            free = part.free | free if part.skips else part.free
            skips = skips and part.skips
        return _Fragment(first, last, empty, free, skips)

    def connect(self, last: Counter[State], first: Counter[State]) -> None:
        for one, ways in last.items():
            for two, more in first.items():
                self.edges[one][two] += ways * more

    def build_repeat(self, node: Repeat) -> _Fragment:
        part, low, high = node.part, node.low, node.high
        if high is None:
            copies = [self.build(part) for _ in range(min(low, _WRITTEN_OUT) - 1)]
            return self.join([*copies, self.build_loop(part, low, None)])
        most = _WRITTEN_OUT if low == high or not isinstance(part, Chars) else _FEW
        if high > most:
            return self.build_loop(part, low, high)
        rest = _Fragment(Counter(), Counter(), 1, frozenset(), True)
        for _ in range(high - low):
            rest = self.join([self.build(part), rest])._replace(empty=1, skips=True)
        return self.join([*(self.build(part) for _ in range(low)), rest])

    def build_loop(self, part: Node, low: int, high: int | None) -> _Fragment:
        inner = self.build(part)
        self.connect(inner.last, inner.first)
        if high is not None and isinstance(part, Chars):
            self.turns[next(iter(inner.first))] = high
        return inner if low else inner._replace(empty=1, skips=True)

    # --- analysis

    def has_few_pairs(self) -> bool:
        """Find the pairs of states that one text can lead to; False if there are too many."""
        self.beside: dict[State, set[State]] = {state: set() for state in range(len(self.masks))}
        waiting: list[Pair] = [(_START, _START)]
        self.pairs = set(waiting)
        steps = 0
        while waiting:
            pair = waiting.pop()
            steps += len(self.edges[pair[0]]) * len(self.edges[pair[1]])
            if steps > _MOST_STEPS:
                return False
            self.beside[pair[0]].add(pair[1])
            self.beside[pair[1]].add(pair[0])
            for following in self.steps(pair):
                if following not in self.pairs:
                    self.pairs.add(following)
                    waiting.append(following)
        return True

    def steps(self, pair: Pair) -> Iterable[Pair]:
        """The pairs that one more character leads to, the smaller state first."""
        for one in self.edges[pair[0]]:
            for two in self.edges[pair[1]]:
                if self.masks[one] & self.masks[two]:
                    yield (one, two) if one <= two else (two, one)

    def find_exponential(self) -> _Slow | None:
        """A loop that one text leads back to a state in two ways."""
        within = {pair for pair in self.pairs if self.component_of[pair[0]] == self.component_of[pair[1]]}
        for state, following in self.edges.items():
            for other, ways in following.items():
                if ways > 1 and self.component_of[state] == self.component_of[other]:
                    return self.describe_loop([state, other])
        for pairs in _find_components(within, lambda pair: within.intersection(self.steps(pair))):
            if len(pairs) > 1 and any(one == two for one, two in pairs) and any(one != two for one, two in pairs):
                return self.describe_loop([state for pair in pairs for state in pair])
        return None

    def describe_loop(self, states: Iterable[State]) -> _Slow:
        return _Slow(
            self.find_loop(states),
            "can read one text in very many ways",
            "Let every turn of a repetition begin or end with a character that the rest of it cannot be: "
            r"^\w+( \w+)*$ instead of ^(\w+ ?)*$.",
        )

    def find_loop(self, states: Iterable[State]) -> tuple[int, int]:
        """Where the smallest repeated part stands that has all these states."""
        spans = [self.spans[state] for state in states if state != _START]
        low, high = min(start for start, _ in spans), max(end for _, end in spans)
        around = [loop for loop in self.loops if loop[0] <= low and high <= loop[1]]
        # the outer of two repetitions in each other is the one to change
        repeated = sorted(around, key=lambda loop: loop[1] - loop[0])
        return repeated[min(1, len(repeated) - 1)] if repeated else (low, high)

    def find_polynomial(self) -> _Slow | None:
        """The part at which the number of ways to read a text grows too large."""
        ways = self.count_ways()
        for states in self.beside.values():
            if sum(ways[state] for state in states) > MOST_WAYS:
                return _Slow(
                    self.find_span(max(states, key=lambda state: ways[state])),
                    "can begin at many places of a text for each place where the part before it can begin",
                    "Begin the pattern with ^ and without .*, and let a repetition end with a character that cannot "
                    "be in it: [^,]*, instead of .*,.",
                )
        return None

    def count_ways(self) -> dict[State, int]:
        """A bound of the number of ways in which one text leads to each state."""
        sources: dict[State, set[State]] = {state: set() for state in self.edges}
        for state, following in self.edges.items():
            for other in following:
                sources[other].add(state)
        ways: dict[State, int] = {}
        reached: dict[State, tuple[int, int]] = {}  # after how many characters, at least and at most
        for states in reversed(self.components):
            entering = {one for state in states for one in sources[state] if one not in states}
            entries = {one: ways[one] * self.count_entries(one, states) for one in entering}
            # those that enter together are all beside any one of them
            count = max((sum(entries[two] for two in entering & self.beside[one]) for one in entering), default=1)
            low = min((reached[one][0] for one in entering), default=0)
            high = max((reached[one][1] for one in entering), default=0)
            turns = self.count_turns(states)
            if any(self.beside[one] & states for one in entering):
                count *= min(turns, high - low + 1)  # it can be entered again while it is going on
            ways |= dict.fromkeys(states, 1 if states <= self.ends else count)
            reached |= dict.fromkeys(states, (low + 1, min(LENGTH, high + turns)))
        return ways

    def count_entries(self, source: State, states: set[State]) -> int:
        """The ways in which one character leads from a state to some of these."""
        entered = {state: count for state, count in self.edges[source].items() if state in states}
        return max(sum(count for two, count in entered.items() if self.masks[one] & self.masks[two]) for one in entered)

    def count_turns(self, states: set[State]) -> int:
        """How many characters are read within a component at most."""
        state = next(iter(states))
        if len(states) == 1 and state not in self.edges[state]:
            return 1
        return self.turns.get(state, LENGTH) if len(states) == 1 else LENGTH

    def find_span(self, state: State) -> tuple[int, int]:
        """Where the smallest repeated part with a state stands, or else the state itself."""
        low, high = self.spans[state]
        around = [loop for loop in self.loops if loop[0] <= low and high <= loop[1]]
        return min(around, key=lambda loop: loop[1] - loop[0], default=(low, high))


def _times(states: Counter[State], count: int) -> Counter[State]:
    return Counter({state: ways * count for state, ways in states.items()}) if count else Counter()


def _is_anchored(node: Node) -> bool:
    """Whether a pattern matches only from the start of the text."""
    match node:
        case Empty():
            return node.anchors
        case Sequence(parts):
            begins = next((at for at, part in enumerate(parts) if not isinstance(part, Empty)), len(parts))
            return any(map(_is_anchored, parts[: begins + 1]))
        case Choice(parts):
            return all(map(_is_anchored, parts))
    return False


def _find_components(nodes: Iterable[N], following: Callable[[N], Iterable[N]]) -> list[set[N]]:
    """The strongly connected components of a graph, those that others lead to first (Tarjan 1972)."""
    number: dict[N, int] = {}
    lowest: dict[N, int] = {}
    open_nodes: list[N] = []
    is_open: set[N] = set()
    components: list[set[N]] = []
    for root in nodes:
        path = [] if root in number else [(root, iter(following(root)))]
        while path:
            node, rest = path[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                open_nodes.append(node)
                is_open.add(node)
            child = next((each for each in rest if each not in number or each in is_open), None)
            if child is not None and child not in number:
                path.append((child, iter(following(child))))
                continue
            if child is not None:
                lowest[node] = min(lowest[node], lowest[child])
                continue
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
            if lowest[node] == number[node]:
                component = set(open_nodes[(at := open_nodes.index(node)) :])
                del open_nodes[at:]
                is_open -= component
                components.append(component)
    return components

"""The guard of row predicates from files: it parses them, allows only listed constructs, and writes them anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from types import NoneType
from typing import Any, TypeAlias

import sqlglot
from sqlglot import TokenType
from sqlglot import expressions as sql

from headgate.metrics.base.metric import PredicateMetric
from headgate.metrics.base.regex_cost import refuse_slow_regex
from headgate.metrics.base.registry import metric_named
from headgate.values.errors import BadPredicate
from headgate.values.key import MetricKey

Node: TypeAlias = Any  # an expression of sqlglot's, which has changed its base class between versions

MOST_CHARACTERS = 10_000
MOST_PATTERN = 1_000
DEEPEST_TREE = 200
DEEPEST = 20  # levels of brackets: the parser makes some twenty calls for each, and Python's limit is a thousand
MOST_GROWTH = 10_000  # the most by which replacements may lengthen a text; nested ones multiply

# The allowed functions by their name in Spark, with sqlglot's class for each. All exist in Spark 3.5, give one value
# for a row, are deterministic within a query, and read nothing but their arguments.
FUNCTIONS: dict[str, type[Any]] = {
    "abs": sql.Abs, "add_months": sql.AddMonths, "array_contains": sql.ArrayContains, "ceil": sql.Ceil,
    "char_length": sql.Length, "coalesce": sql.Coalesce, "concat": sql.Concat, "concat_ws": sql.ConcatWs,
    "contains": sql.Contains, "current_date": sql.CurrentDate, "current_timestamp": sql.CurrentTimestamp,
    "date_add": sql.TsOrDsAdd, "date_sub": sql.TsOrDsAdd, "date_trunc": sql.TimestampTrunc, "datediff": sql.DateDiff,
    "day": sql.Day, "dayofmonth": sql.DayOfMonth, "dayofweek": sql.DayOfWeek, "dayofyear": sql.DayOfYear,
    "endswith": sql.EndsWith, "exp": sql.Exp, "extract": sql.Extract, "floor": sql.Floor, "greatest": sql.Greatest,
    "hour": sql.Hour, "if": sql.If, "ifnull": sql.Coalesce, "initcap": sql.Initcap, "instr": sql.StrPosition,
    "isnan": sql.IsNan, "last_day": sql.LastDay, "least": sql.Least, "left": sql.Left, "length": sql.Length,
    "ln": sql.Ln, "locate": sql.StrPosition, "lower": sql.Lower, "ltrim": sql.Trim, "minute": sql.Minute,
    "mod": sql.Mod, "month": sql.Month, "months_between": sql.MonthsBetween, "nullif": sql.Nullif, "nvl": sql.Coalesce,
    "nvl2": sql.Nvl2, "power": sql.Pow, "quarter": sql.Quarter, "regexp_extract": sql.RegexpExtract,
    "regexp_like": sql.RegexpLike, "regexp_replace": sql.RegexpReplace, "replace": sql.Replace, "right": sql.Right,
    "round": sql.Round, "rtrim": sql.Trim, "second": sql.Second, "sign": sql.Sign, "size": sql.ArraySize,
    "split": sql.RegexpSplit, "sqrt": sql.Sqrt, "startswith": sql.StartsWith, "substr": sql.Substring,
    "substring": sql.Substring, "to_date": sql.TsOrDsToDate, "to_timestamp": sql.StrToTime, "translate": sql.Translate,
    "trim": sql.Trim, "trunc": sql.DateTrunc, "upper": sql.Upper, "weekofyear": sql.WeekOfYear, "year": sql.Year,
}  # fmt: skip
TYPES = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(p, s)", "string", "date",
         "timestamp")  # fmt: skip
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")

_OPERATORS: tuple[type[Any], ...] = (
    sql.And, sql.Or, sql.Not, sql.Paren, sql.EQ, sql.NEQ, sql.LT, sql.LTE, sql.GT, sql.GTE, sql.NullSafeEQ,
    sql.NullSafeNEQ, sql.In, sql.Between, sql.Is, sql.Like, sql.ILike, sql.Case, sql.If, sql.Add, sql.Sub, sql.Mul,
    sql.Div, sql.IntDiv, sql.Mod, sql.Neg, sql.DPipe, sql.BitwiseAnd, sql.BitwiseOr, sql.BitwiseXor, sql.Interval,
    sql.Cast, sql.TryCast,
)  # fmt: skip
# nodes without nodes in them, each with the arguments that it may have
_LEAVES: dict[type[Any], tuple[str, ...]] = {
    sql.Null: (), sql.Boolean: ("this",), sql.Literal: ("this", "is_string"), sql.RawString: ("this",),
    sql.Column: ("this",), sql.Var: ("this",), sql.DataType: ("this", "expressions"),
}  # fmt: skip
_ALLOWED = frozenset((*_OPERATORS, *_LEAVES, *FUNCTIONS.values()))
# the arguments that another node may have; one with any other (a query, DISTINCT, an escape, a window) is refused
_ARGUMENTS = frozenset({
    "this", "expression", "expressions", "low", "high", "to", "negate", "ifs", "default", "true", "false", "unit",
    "start", "length", "decimals", "format", "replacement", "group", "position", "substr", "from_", "limit",
    "safe", "coalesce", "flatten", "ignore_nulls", "null_if_pos_overflow", "is_string", "typed", "is_nvl", "is_null",
})  # fmt: skip
_KINDS = frozenset(
    getattr(sql.DataType.Type, name)
    for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "TEXT", "DATE",
                 "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ")
)  # fmt: skip
_PATTERNED = (sql.Like, sql.ILike, sql.RegexpLike, sql.RegexpExtract, sql.RegexpReplace, sql.RegexpSplit)
# Spark and the parser give these different precedence: a = b IS NULL, a = b = c
_CONDITIONS = (sql.And, sql.Or, sql.Not, sql.EQ, sql.NEQ, sql.LT, sql.LTE, sql.GT, sql.GTE, sql.NullSafeEQ,
               sql.NullSafeNEQ, sql.In, sql.Between, sql.Is, sql.Like, sql.ILike, sql.RegexpLike)  # fmt: skip
_OPERANDS = (*_CONDITIONS[3:], sql.Add, sql.Sub, sql.Mul, sql.Div, sql.IntDiv, sql.Mod, sql.Neg, sql.DPipe,
             sql.BitwiseAnd, sql.BitwiseOr, sql.BitwiseXor)  # fmt: skip
_ALIKE = {"TryCast": "Cast", "RawString": "Literal"}
_LIKE_PART = re.compile(r"\\.|.", re.DOTALL)
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DECIMAL = re.compile(r"DECIMAL(\(\d+(, ?\d+)?\))?")
# Spark reads these names as functions or metadata if the table has no such column
_NO_COLUMNS = frozenset({"_metadata", "current_user", "session_user", "current_catalog", "current_database",
                         "current_schema", "current_time", "localtimestamp", "grouping__id"})  # fmt: skip
_WORDS = {sql.Select: "a subquery", sql.Subquery: "a subquery", sql.Exists: "EXISTS", sql.Window: "a window",
          sql.Lambda: "a lambda", sql.Placeholder: "a parameter", sql.Parameter: "a parameter", sql.Star: "*",
          sql.Alias: "a second expression", sql.Bracket: "an element of an array or a map"}  # fmt: skip
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END)
_PREFIXES = (TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.INTERVAL)
_FORMS = "comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, LIKE, RLIKE, CASE, CAST, arithmetic"


def guard_predicate(text: str) -> str:
    """The predicate, parsed and written anew; raises if anything in it is more than a test of one row.

    What is not listed (`FUNCTIONS`, `TYPES`, operators) is refused, so that a text from a file can neither run code nor
    read other tables, files, settings or the network. Comments are removed.

    >>> guard_predicate("discount<=price and lower(region) in ('eu', 'us') -- since May")
    "discount <= price AND LOWER(region) IN ('eu', 'us')"
    >>> guard_predicate("reflect('java.lang.System')")
    Traceback (most recent call last):
        ...
    headgate.values.errors.BadPredicate: "reflect('java.lang.System')": the function reflect may not be used ...
    """
    # parsing the result again must give the same tree, or another parser could read it in another way
    written, nodes, texts = _read(text, text)
    written_again, nodes_again, texts_again = _read(written, text)
    if written_again != written or nodes != nodes_again or not texts <= texts_again:
        raise _refusal(text, "what can be read in two ways", hint="Say it more plainly, or with parentheses.")
    return written


def guard_key(key: MetricKey) -> MetricKey:
    """The key of a metric with the predicates in it written anew; raises as `guard_predicate` does.

    >>> guard_key(MetricKey("mean", ("price",), where="a>1")).where
    'a > 1'
    """
    sql_names = {"predicate"} if issubclass(metric_named(key.name), PredicateMetric) else set()
    parameters = tuple(
        (name, guard_predicate(str(value)) if name in sql_names else value) for name, value in key.parameters
    )
    where = None if key.where is None else guard_predicate(key.where)
    return MetricKey(key.name, key.columns, parameters, where)


def _read(part: str, text: str) -> tuple[str, list[Any], set[str]]:
    """The predicate written anew, the nodes of its tree, and the quoted texts in it."""
    try:
        texts, pluses = _scan_tokens(part, text)
        trees = sqlglot.parse(part, read="spark")
        if len(trees) != 1 or trees[0] is None:
            raise _refusal(text, "something else than one expression", hint="Write one condition.")
        _check_tree(trees[0], text)
        nodes = _list_nodes(trees[0])
        if pluses != sum(kind == "Add" for kind, _, _ in nodes):  # the parser drops a unary plus, which Spark evaluates
            raise _refusal(text, "a plus sign before a value", hint="Leave it out.")
        written: str = trees[0].transform(_with_format).sql(dialect="spark", comments=False)
    except BadPredicate:
        raise
    except RecursionError:
        raise _too_deep(text) from None
    except Exception as error:  # for malformed text the parser raises many kinds of errors
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise BadPredicate(f"{_short(text)} is not a SQL predicate: {why}") from None
    if "${" in part or "${" in written:
        # Spark replaces it by settings and environment variables, even inside quotes
        raise _refusal(text, "${", hint="In a regular expression write [$][{].")
    return written, nodes, texts


def _with_format(node: Node) -> Node:
    """to_date with its format. The parser omits the default format, but Spark is stricter if it is given."""
    if not isinstance(node, sql.TsOrDsToDate) or not node.args.get("format"):
        return node
    format_text = str(sqlglot.Dialect.get_or_raise("spark").generator().format_time(node))
    return sql.Anonymous(this="TO_DATE", expressions=[node.this, sqlglot.parse_one(format_text, read="spark")])


def _scan_tokens(part: str, text: str) -> tuple[set[str], int]:
    """The quoted texts and the number of plus signs; raises on what is too long, too deep or ambiguous."""
    if len(part) > MOST_CHARACTERS:
        raise BadPredicate(
            f"{_short(text)} has {len(part):,} characters; a predicate may have {MOST_CHARACTERS:,}.",
            hint="Say it in several checks.",
        )
    depth = run = end = pluses = 0
    last, texts = None, set()
    for token in sqlglot.tokenize(part, read="spark"):
        kind = token.token_type
        if "/*+" in part[end : token.start]:
            raise _refusal(text, "a hint")
        depth += (kind in _OPENING) - (kind in _CLOSING)
        run = run + 1 if kind in _PREFIXES else 0
        pluses += kind is TokenType.PLUS
        if max(depth, run) > DEEPEST:
            raise _too_deep(text)
        if kind is TokenType.STRING and last is TokenType.STRING:
            raise _refusal(text, "two texts side by side", hint=r"Write a quote inside a text as \'.")
        if kind is TokenType.SEMICOLON:
            raise _refusal(text, "a semicolon", hint="Write one condition.")
        if kind is TokenType.STRING:
            texts.add(token.text.upper() if token.text.lower() in UNITS else token.text)
        last, end = kind, token.end + 1
    if "/*+" in part[end:]:
        raise _refusal(text, "a hint")
    return texts, pluses


def _check_tree(tree: Node, text: str) -> None:
    """Raise if a node of the tree is not allowed."""
    waiting, growth = [(tree, 0)], 1
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST_TREE:
            raise _too_deep(text)
        if type(node) not in _ALLOWED:
            raise _refusal(text, _describe_node(node))
        if type(node) in _LEAVES:
            _check_leaf(node, text)
        if not _well_formed(node):
            raise _refusal(text, f"{_describe_node(node)} in this form")
        if type(node) in _LEAVES:
            continue
        if isinstance(node, _OPERANDS) and any(isinstance(each, _CONDITIONS) for each in _children(node)):
            raise _refusal(text, "a condition that is compared", hint="Put parentheses around what belongs together.")
        if isinstance(node, _PATTERNED):
            _check_pattern(node, text)
        if isinstance(node, (sql.Replace, sql.RegexpReplace)):
            growth *= 1 + _replacement_length(node, text)
        if growth > MOST_GROWTH:
            raise _refusal(text, "so many and so long replacements")
        chained = isinstance(node, (sql.And, sql.Or))  # parsers accept long chains of these
        waiting.extend((each, depth + (not chained)) for each in _children(node))


def _well_formed(node: Node) -> bool:
    if isinstance(node, sql.In) and not node.expressions:
        return False
    if isinstance(node, sql.Interval) and not (isinstance(node.this, sql.Literal) and node.args.get("unit")):
        return False
    arguments = _LEAVES.get(type(node), _ARGUMENTS)
    return all(name in arguments for name, value in node.args.items() if value)


def _children(node: Node) -> Iterator[Node]:
    """Whatever a node holds besides plain values: also nodes that are no expressions to this version of the parser."""
    for value in node.args.values():
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, (str, int, float, Enum, NoneType)):
                yield each


def _list_nodes(tree: Node) -> list[Any]:
    """The nodes in depth-first order, each with the number of its children, which determines the tree. Parentheses are
    left out.
    """
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        parts = list(_children(node))
        if not isinstance(node, sql.Paren):
            kind = type(node).__name__
            nodes.append((_ALIKE.get(kind, kind), node.name if type(node) in _LEAVES else "", len(parts)))
        waiting.extend(reversed(parts))
    return nodes


def _check_leaf(node: Node, text: str) -> None:
    match node:
        case sql.Column():
            if not isinstance(node.this, sql.Identifier) or node.args.get("table"):
                raise _refusal(text, f"the name {node.sql(dialect='spark')}", hint="A name with a dot is `a.b`.")
            if node.name.lower() in _NO_COLUMNS:
                raise _refusal(text, f"the name {node.name}")
        case sql.Literal() if not node.is_string and not _NUMBER.fullmatch(node.name):
            raise _refusal(text, f"the number {node.name}")
        case sql.Var() if node.name.lower().removesuffix("s") not in UNITS:
            raise _refusal(text, f"the word {node.name}", hint=f"Units are {', '.join(UNITS)}.")
        case sql.DataType():
            if node.this not in _KINDS or (node.expressions and not _DECIMAL.fullmatch(node.sql(dialect="spark"))):
                raise _refusal(text, f"the type {node.sql(dialect='spark')}", hint=f"Types are {', '.join(TYPES)}.")


def _check_pattern(node: Node, text: str) -> None:
    pattern = node.expression
    if not (isinstance(pattern, sql.RawString) or (isinstance(pattern, sql.Literal) and pattern.is_string)):
        raise _refusal(text, "a pattern that is not plain text", hint=f"Write it out: {node.key} '...'.")
    if len(pattern.name) > MOST_PATTERN:
        raise _refusal(text, f"a pattern of {len(pattern.name):,} characters", hint=f"{MOST_PATTERN:,} are the most.")
    like = isinstance(node, (sql.Like, sql.ILike))
    refuse_slow_regex(_like_as_regex(pattern.name) if like else pattern.name, java=True)


def _like_as_regex(pattern: str) -> str:
    r"""The regular expression that Spark makes of a LIKE pattern; a % at its end is left out, for it always matches.

    >>> _like_as_regex("a%b_c.%")
    '^a.*b.c\\.'
    """
    parts = _LIKE_PART.findall(pattern.rstrip("%"))
    regex = "".join({"%": ".*", "_": "."}.get(part, re.escape(part[-1])) for part in parts)
    return f"^{regex}" + "$" * (not pattern.endswith("%"))


def _replacement_length(node: Node, text: str) -> int:
    """The length of the replacement text. It must be a literal, because nested long replacements can exhaust memory."""
    replacement = node.args.get("replacement")
    if replacement is None:
        return 0
    if not isinstance(replacement, (sql.Literal, sql.RawString)):
        raise _refusal(text, "a replacement that is not plain text")
    return len(replacement.name)


def _describe_node(node: Node) -> str:
    """The node in words."""
    if type(node) in _WORDS:
        return _WORDS[type(node)]
    try:
        written = node.sql(dialect="spark")
    except Exception:  # the parser knows nodes that it cannot write
        return f"the expression {type(node).__name__}"
    return (
        f"the function {_short(written.partition('(')[0].lower(), 40)[1:-1]}"
        if isinstance(node, sql.Func)
        else _short(written, 40)
    )


def _refusal(text: str, what: str, hint: str = "") -> BadPredicate:
    known = f"Use {_FORMS} and the functions {', '.join(FUNCTIONS)}."
    return BadPredicate(f"{_short(text)}: {what} may not be used in a predicate.", hint=hint or known)


def _too_deep(text: str) -> BadPredicate:
    return BadPredicate(f"{_short(text)} is nested too deeply.", hint=f"{DEEPEST} levels are the most.")


def _short(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else text[:most] + "...")

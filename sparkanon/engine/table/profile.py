"""A first look at a table: what each column is like and which role it might get.

Nothing here holds a cell value: the driver receives counts, shares and shapes only, so a profile
can be printed, logged and mailed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import yaml
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sparkanon.engine.table.vocabulary import (
    ALWAYS_IDENTIFIER,
    DEMOGRAPHIC,
    DESIGN,
    OFTEN_IDENTIFIER,
    SENSITIVE,
    TARGET,
    words_of,
)
from sparkanon.errors import InputError, PolicyError, Problem

_LARGE = 1e30
MANY_QUASI_IDENTIFIERS = 10
"""From here on the starter policy warns: every further one costs usefulness."""


@dataclass(frozen=True)
class ColumnProfile:
    """What is known about a column; shares are of its non-null rows unless said otherwise.

    Attributes
    ----------
    type
        Spark's name of the type.
    kind
        The policy type that suits it, or None if the column cannot be a quasi-identifier.
    null_share
        Share of all rows; None for an empty table.
    nan_count, infinite_count
        Zero but for float and double.
    distinct
        Approximate number of distinct non-null values (about 1 % standard error, exact for few);
        None for types that are not profiled.
    top_share
        Share of the most frequent value, off by at most 0.001.
    skewness
        Of a numeric column, without values beyond 1e30; smaller ones than 1e-30 count as 0.
    """

    name: str
    type: str
    kind: str | None
    null_share: float | None
    nan_count: int
    infinite_count: int
    distinct: int | None
    distinct_share: float | None
    top_share: float | None
    skewness: float | None
    constant: bool
    role: str
    reason: str

    def to_dict(self) -> dict[str, object]:
        """The fields as JSON types."""
        return asdict(self)


@dataclass(frozen=True)
class TableProfile:
    """Number of rows and one profile a column, in the order of the table."""

    rows: int
    columns: tuple[ColumnProfile, ...]

    def to_dict(self) -> dict[str, object]:
        """The fields as JSON types."""
        return {"rows": self.rows, "columns": [column.to_dict() for column in self.columns]}


# -- profile -------------------------------------------------------------------------------------


def profile(df: DataFrame) -> TableProfile:
    """Describe every column of `df` in two distributed aggregations.

    Memory on the driver and in each task grows with the number of columns, not of rows.

    Parameters
    ----------
    df
        Any table; column names may hold dots, spaces, backticks, or occur twice.
    """
    fields = df.schema.fields
    # Columns are renamed by position, so that no name needs quotes and equal names do not clash.
    names = [f"c{index}" for index in range(len(fields))]
    table = df.toDF(*names) if fields else df
    typed = list(zip(names, fields, strict=True))
    hashes = table.select([_hash(name, field.dataType).alias(name) for name, field in typed])
    sketches = [m for name, field in typed for m in _sketches(name, field.dataType)]
    moments = [m for name, field in typed for m in _moments(name, field.dataType)]
    # Spark does not compile an aggregation that holds sketches. So hashes are computed before it,
    # and plain sums in an aggregation of their own. Each of the two returns a single row.
    numbers = hashes.agg(F.count(F.lit(1)).alias("rows"), *sketches).collect()[0].asDict()
    if moments:
        numbers |= table.agg(*moments).collect()[0].asDict()
    found = [_facts(numbers, index, field) for index, field in enumerate(fields)]
    rows = _int(numbers["rows"])
    return TableProfile(rows=rows, columns=_with_roles(rows, found))


_KINDS: tuple[tuple[type[T.DataType], str], ...] = (
    (T.NumericType, "numeric"),
    (T.StringType, "nominal"),
    (T.CharType, "nominal"),
    (T.VarcharType, "nominal"),
    (T.BooleanType, "boolean"),
    (T.DateType, "date"),
    (T.TimestampType, "timestamp"),
    (T.TimestampNTZType, "timestamp"),
)


def _kind(data_type: T.DataType) -> str | None:
    return next((kind for cls, kind in _KINDS if isinstance(data_type, cls)), None)


def _hash(name: str, data_type: T.DataType) -> Column:
    column = F.col(name)
    known = F.lit(0) if _kind(data_type) is None else F.xxhash64(column)
    return F.when(column.isNotNull(), known)


def _sketches(name: str, data_type: T.DataType) -> list[Column]:
    hashed = F.col(name)
    count = F.count(hashed).alias(f"{name}_count")
    if _kind(data_type) is None:
        return [count]
    # A sketch has one binary buffer for a column; approx_count_distinct would need dozens of
    # buffers. Both sketches see hashes only, so they hold no cell.
    top = F.call_function("approx_top_k", hashed, F.lit(2), F.lit(4_000))
    return [
        count,
        F.hll_sketch_estimate(F.hll_sketch_agg(hashed, F.lit(14))).alias(f"{name}_distinct"),
        F.filter(top, lambda item: item["item"].isNotNull())["count"].alias(f"{name}_top"),
    ]


def _moments(name: str, data_type: T.DataType) -> list[Column]:
    if _kind(data_type) != "numeric":
        return []
    number = F.col(name).cast("double")
    if not isinstance(data_type, T.FloatType | T.DoubleType):
        return [F.skewness(_usual(number)).alias(f"{name}_skewness")]
    infinite = number.isin(math.inf, -math.inf)
    return [
        F.count_if(F.isnan(number)).alias(f"{name}_nan"),
        F.count_if(infinite).alias(f"{name}_infinite"),
        F.skewness(_usual(number)).alias(f"{name}_skewness"),
    ]


def _usual(number: Column) -> Column:
    """What skewness can be taken of: the sixth power of a spread must be a double, and not 0."""
    size = F.abs(number)
    return F.when(size < 1 / _LARGE, F.lit(0.0)).when(size <= _LARGE, number)


@dataclass(frozen=True)
class _Facts:
    """A column's numbers before a role is chosen."""

    name: str
    type: str
    kind: str | None
    whole: bool
    count: int
    nan: int
    infinite: int
    distinct: int | None
    top: int | None
    skewness: float | None
    constant: bool


def _facts(numbers: Mapping[str, object], index: int, field: T.StructField) -> _Facts:
    def get(what: str) -> object:
        return numbers.get(f"c{index}_{what}")

    count, distinct = _int(get("count")), None
    top, skewness = None, get("skewness")
    kind = _kind(field.dataType)
    if kind is not None:
        # The sketch may count a little more than there are rows, and finds nothing when no value
        # is frequent. The most frequent value is at least as frequent as the average one.
        distinct = min(_int(get("distinct")), count)
        found = get("top")
        tops = [_int(item) for item in found] if isinstance(found, list) else []
        top = min(count, max([*tops, math.ceil(count / distinct)])) if distinct else None
    return _Facts(
        name=field.name,
        type=field.dataType.simpleString(),
        kind=kind,
        whole=isinstance(field.dataType, T.IntegralType),
        count=count,
        nan=_int(get("nan")),
        infinite=_int(get("infinite")),
        distinct=distinct,
        top=top,
        skewness=skewness if isinstance(skewness, float) and math.isfinite(skewness) else None,
        constant=distinct == 1,  # the sketch is exact for so few values
    )


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


# -- roles ---------------------------------------------------------------------------------------


def _with_roles(rows: int, found: Sequence[_Facts]) -> tuple[ColumnProfile, ...]:
    taken: set[str] = set()
    columns = []
    for facts in found:
        role, reason = _role(rows, facts, taken)
        taken.add(role)
        columns.append(
            ColumnProfile(
                name=facts.name,
                type=facts.type,
                kind=facts.kind,
                null_share=_share(rows - facts.count, rows),
                nan_count=facts.nan,
                infinite_count=facts.infinite,
                distinct=facts.distinct,
                distinct_share=_share(facts.distinct, facts.count),
                top_share=_share(facts.top, facts.count),
                skewness=None if facts.skewness is None else round(facts.skewness, 3),
                constant=facts.constant,
                role=role,
                reason=reason,
            )
        )
    return tuple(columns)


def _share(part: int | None, whole: int) -> float | None:
    return round(part / whole, 6) if part is not None and whole else None


def _role(rows: int, facts: _Facts, taken: set[str]) -> tuple[str, str]:
    """The role and why. The first rule that fits decides; when in doubt, more protection."""
    words = words_of(facts.name)
    share = facts.distinct / facts.count if facts.distinct and facts.count else 0.0
    unseen = " (the table is empty: by name and type alone)" if rows == 0 else ""
    if words & ALWAYS_IDENTIFIER and facts.kind != "boolean":
        return "identifier", "the name says that it points to a person" + unseen
    if rows and not facts.count:
        return "keep", "null in every row: holds no information and can be dropped"
    if facts.constant and facts.count == rows:
        return "keep", "the same value in every row: holds no information and can be dropped"
    if facts.kind is None:
        return "keep", "CHECK: this type cannot be protected and is published as it is; drop it?"
    if words & OFTEN_IDENTIFIER and not words & (DEMOGRAPHIC | SENSITIVE):
        named = facts.kind == "nominal" and words & {"name", "names"}
        numbered = (facts.kind == "nominal" and share >= 0.1) or (facts.whole and share >= 0.5)
        if named or numbered or rows == 0:
            return "identifier", "the name says that it points to a person" + unseen
    if facts.kind == "numeric" and _is_design_weight(words) and "weight" not in taken:
        return "weight", "the name says that it is a survey weight" + unseen
    if words & SENSITIVE:
        return "sensitive", "the name says that people would not want it known" + unseen
    if facts.name.lower() in TARGET and "target" not in taken and (facts.distinct or 0) <= 20:
        return "target", "the name says that it is a class label" + unseen
    if not words & DEMOGRAPHIC and share >= 0.95 and rows >= 20:
        if facts.kind == "nominal":
            return "identifier", "differs in nearly every row"
        if facts.whole and rows >= 1000:
            return "identifier", "whole numbers that differ in nearly every row"
    return "quasi_identifier", _quasi_reason(facts, words) + unseen


def _is_design_weight(words: frozenset[str]) -> bool:
    return bool(words & {"fnlwgt"} or (words & {"weight", "weights"} and words & DESIGN))


def _quasi_reason(facts: _Facts, words: frozenset[str]) -> str:
    if facts.kind == "nominal":
        if facts.distinct and facts.distinct > 1000:
            return "text with many values: group them first, or make it an identifier"
        if words & DEMOGRAPHIC:
            return "known to others; if its values have an order, make it ordinal"
        return "few values, may be known to others; sensitive if nobody could know it"
    if facts.kind in ("date", "timestamp"):
        return "a time can be known to others"
    if facts.kind == "boolean":
        return "yes or no, may be known to others; sensitive if nobody could know it"
    if facts.infinite:
        return "a number others may know; its infinities must be cleaned first"
    return "a number others may know"


# -- starter policy ------------------------------------------------------------------------------


def starter_policy(profile: TableProfile, input: Mapping[str, object], k: int = 5) -> str:
    """A policy to start from, as YAML text with comments; its reader decides.

    Parameters
    ----------
    profile
        What `profile` found.
    input
        The policy's `input` section: format, path and so on. It is written as it is.
    k
        Smallest group.

    Raises
    ------
    PolicyError
        If `k` is below 2 or `input` cannot be written as YAML.
    InputError
        If two columns have the same name, because a policy cannot distinguish them.
    """
    if k < 2:
        raise PolicyError(Problem("k", f"must be at least 2. Got {k} instead."))
    twice = [name for name, times in Counter(c.name for c in profile.columns).items() if times > 1]
    if twice:
        raise InputError([Problem(name, "several columns have this name") for name in twice])

    quasi = [column for column in profile.columns if column.role == "quasi_identifier"]
    nominal = any(column.kind == "nominal" for column in quasi)
    lines = [
        "# A first policy, guessed from column names, types and counts: read every line.",
        "version: 1",
        f"input:   {_flow(dict(input))}",
        f"output:  {_flow(_output(input, k))}",
        "",
        "# identifier: dropped. quasi_identifier: others may know it, protected. sensitive: what",
        "# they want to learn. target: class label. weight: survey weight. keep: left as it is.",
    ]
    lines += [f"# NOTE: {note}" for note in _notes(profile, quasi, k)]
    lines += _column_lines(profile.columns)
    space = "gower    " if nominal else "euclidean"
    why = "for text and numbers together" if nominal else "gower as soon as one of them is text"
    lines += [
        "unlisted: error              # a column that is added later stops the run",
        "",
        f"k: {k}",
        "method:",
        f"  space: {space}           # {why}",
        "  grouping: refined",
        "  release: centroid          # or permute; see sparkanon methods",
        "nulls: own_category          # or impute, drop_row, reject",
        "seed: {env: SPARKANON_SEED}  # a secret: keep it out of this file",
        f"gates: {{min_k: {k}, max_il: 40}}  # publish nothing beyond these",
        "",
    ]
    return "\n".join(lines)


def _notes(profile: TableProfile, quasi: Sequence[ColumnProfile], k: int) -> list[str]:
    notes = []
    if profile.rows < k:
        notes.append("the table has fewer rows than k, so nothing can be published.")
    if not quasi:
        notes.append("no quasi-identifier was found; choose at least one.")
    if len(quasi) > MANY_QUASI_IDENTIFIERS:
        notes.append(
            f"{len(quasi)} quasi-identifiers are many, and each one costs usefulness. Leave only"
            "\n# what an outsider can know; of two that say the same (age, birthday), drop one."
        )
    return notes


def _column_lines(columns: Sequence[ColumnProfile]) -> list[str]:
    if not columns:
        return ["columns: {}"]
    entries = [(_scalar(column.name) + ":", _entry(column), column.reason) for column in columns]
    # Very long names do not push all others to the right.
    name_width = min(max(len(name) for name, _, _ in entries), 30)
    role_width = max(len(role) for _, role, _ in entries)
    return ["columns:"] + [
        f"  {name:{name_width}} {role:{role_width}}  # {reason}" for name, role, reason in entries
    ]


def _entry(column: ColumnProfile) -> str:
    if column.role == "quasi_identifier":
        return f"{{role: quasi_identifier, type: {column.kind}}}"
    return column.role


def _output(input: Mapping[str, object], k: int) -> dict[str, object]:
    """Beside the input, never inside it."""
    output: dict[str, object] = {}
    if "format" in input:
        output["format"] = input["format"]
    if "name" in input:
        return output | {"name": f"{input['name']}_k{k}"}
    path = str(input.get("path", "release"))
    path = re.split(r"/?[^/]*[*?\[{]", path)[0].rstrip("/")  # for a pattern, its folder
    stem = re.sub(r"(\.(parquet|csv|json|orc|gz|delta))+$", "", path) or "release"
    return output | {"path": f"{stem}_k{k}"}


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _scalar(text: str) -> str:
    # Some YAML loaders read y and n as booleans, although PyYAML does not.
    if _PLAIN.fullmatch(text) and len(text) > 1 and yaml.safe_load(text) == text:
        return text
    return _dump(text, style='"')


def _flow(value: dict[str, object]) -> str:
    return _dump(value, style=None)


def _dump(value: object, style: str | None) -> str:
    try:
        text = yaml.safe_dump(
            value,
            default_style=style,
            default_flow_style=True,
            sort_keys=False,
            allow_unicode=True,
            width=math.inf,
        )
    except yaml.YAMLError:
        raise PolicyError(Problem("input", "cannot be written as YAML")) from None
    return text.removesuffix("...\n").strip()

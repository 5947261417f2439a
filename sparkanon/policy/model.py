"""The policy: one immutable value that says what is published from what, and how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from sparkanon.attacks import ATTACKS, Attack
from sparkanon.catalogue import CATALOGUE, Taker, gives
from sparkanon.errors import Problem
from sparkanon.groupings import GROUPINGS
from sparkanon.groupings.base import Grouping
from sparkanon.groupings.refined import Refined
from sparkanon.measures import MEASURES, MeasureSpec
from sparkanon.measures.anonymity import few
from sparkanon.numeric.records import Scale
from sparkanon.promises import Promise
from sparkanon.registry import MOST_ROWS, choice, mistakes, one_of, parameters_of
from sparkanon.releases import RELEASES, Release
from sparkanon.releases.centroid import Centroid
from sparkanon.spaces import SPACES, Space
from sparkanon.spaces.euclidean import Euclidean

LONGEST_PATH = 4096  # characters; what Linux takes


def _possible(path: str) -> str:
    if "\0" in path:
        raise ValueError("must not hold a NUL character")
    if len(path) > LONGEST_PATH:
        raise ValueError(f"must have at most {LONGEST_PATH:,} characters")
    return path


Path = Annotated[str, Field(min_length=1), AfterValidator(_possible)]
Option = Annotated[str | bool | int | float, one_of("text, a number, true or false")]


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):  # which pydantic would take for 1 or 0
        raise ValueError("must be a number")
    return value


Number = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_no_boolean)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_no_boolean)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Role(StrEnum):
    """What a column is to the person it is about."""

    IDENTIFIER = "identifier"  # names the person: dropped
    QUASI_IDENTIFIER = "quasi_identifier"  # helps to find the person: masked
    SENSITIVE = "sensitive"  # what nobody should learn about the person
    TARGET = "target"  # class label of models
    WEIGHT = "weight"  # survey weight
    KEEP = "keep"  # travels untouched


class ColumnType(StrEnum):
    """How a quasi-identifier is read; the published column keeps its own type."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"

    @property
    def scale(self) -> Scale:
        by_type = {ColumnType.ORDINAL: Scale.ORDINAL, ColumnType.NOMINAL: Scale.NOMINAL}
        return by_type.get(self, Scale.NUMERIC)


class NullPolicy(StrEnum):
    """What a null (or NaN) in a quasi-identifier means; anonymizer and auditor share it."""

    OWN_CATEGORY = "own_category"
    IMPUTE = "impute"
    DROP_ROW = "drop_row"
    REJECT = "reject"


Order = Annotated[
    list[StrictStr | StrictInt | StrictFloat],
    one_of("a list of texts and numbers; put true and false in quotes"),
]


class ColumnPolicy(_Part):
    """Role and, for a quasi-identifier, how it is read and written."""

    role: Role
    type: ColumnType | None = Field(None, description="Default: what the table's own type says.")
    order: Order | None = Field(
        None, description="Values of an ordinal column, lowest first; text columns need it."
    )
    as_: Literal["double"] | None = Field(
        None, alias="as", description="Publish an integer or decimal mean unrounded."
    )


def _short_role(value: Any) -> Any:
    return {"role": value} if isinstance(value, str) else value


class Source(_Part):
    """Where a table is read."""

    format: Literal["csv", "parquet", "delta", "table"]
    path: Path | None = Field(None, description="Folder or file; for csv, parquet and delta.")
    name: Path | None = Field(None, description="Catalog name; for table.")
    version: int | None = Field(None, ge=0, description="Version of a Delta table to read.")
    types: str | None = Field(None, description="Types of a CSV file as DDL: 'a INT, b STRING'.")
    options: dict[str, Option] = Field(
        default_factory=dict, description="Handed to Spark's reader: sep, header, nullValue, ..."
    )

    @property
    def place(self) -> str:
        return str(self.path or self.name)


class Sink(_Part):
    """Where the release is published."""

    format: Literal["csv", "parquet", "delta", "table"]
    path: Path | None = Field(None, description="Folder; for csv, parquet and delta.")
    name: Path | None = Field(None, description="Catalog name; for table.")
    using: Literal["parquet", "delta"] | None = Field(
        None, description="Format of a catalog table; parquet if not said."
    )
    partition_by: list[str] = Field(default_factory=list, description="Released columns.")
    options: dict[str, Option] = Field(
        default_factory=dict, description="Handed to Spark's writer: compression, sep, ..."
    )
    staging: Path | None = Field(
        None,
        description="Private folder for the unverified table; default: beside the output.",
    )
    stage_by: Literal["files", "spark"] | None = Field(
        None,
        description="Who writes the unverified table: workers, as files in a folder that driver "
        "and executors share, or Spark; by default what the place allows.",
    )

    @property
    def place(self) -> str:
        return str(self.path or self.name)


class SeedSource(_Part):
    """Where the secret seed comes from; it is never written into the policy itself."""

    env: str | None = Field(None, min_length=1, description="Environment variable.")
    file: Path | None = Field(None, description="File that only you can read.")


class Private(_Part):
    """A place that keeps which released row was which record, for later audits."""

    path: Path = Field(description="Folder that only its owner can read; never in the output.")


class MeasuresTable(_Part):
    """Where measures are appended, one row for each run, measure and column."""

    format: Literal["parquet", "delta"] = "parquet"
    path: Path


class Diversity(_Part):
    """Every class must hold several values of a sensitive column."""

    least: Number = Field(alias="l", gt=1, description="How many, as `kind` counts them.")
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: Positive | None = Field(None, description="Of recursive (c, l)-diversity, 2 if not said.")
    columns: list[str] = Field(default_factory=list, description="All sensitive ones if not said.")


class Closeness(_Part):
    """No class may differ from the whole table by more in a sensitive column."""

    t: Number = Field(ge=0, le=1, description="Earth mover's distance.")
    columns: list[str] = Field(default_factory=list, description="All sensitive ones if not said.")


def _short(name: str) -> BeforeValidator:
    def spelled_out(value: Any) -> Any:
        if value is None:  # `l_diversity:` without a value is a mistake, not a default
            raise ValueError("is empty; give a number, or leave it out")
        return {name: value} if isinstance(value, int | float) else value

    return BeforeValidator(spelled_out)


class Constraints(_Part):
    """What groups must keep besides k; verified on the staged table like k."""

    l_diversity: Annotated[Diversity | None, _short("l")] = None
    t_closeness: Annotated[Closeness | None, _short("t")] = None


class AuditPolicy(_Part):
    """What is measured besides k and information loss, and how."""

    take: Annotated[
        Literal["standard", "all"] | list[str], one_of("standard, all, or a list of measures")
    ] = Field(
        "standard",
        description="Measures that anonymize takes besides those its gates name; audit takes all "
        "unless names are listed. standard: k and information loss, which cost nothing more.",
    )
    table: MeasuresTable | None = Field(None, description="Table that measures are appended to.")
    targets: int | None = Field(
        None,
        ge=1,
        le=MOST_ROWS,
        description="Records that attacks look for, drawn by hash; all if not said.",
    )
    measures: list[Annotated[MeasureSpec, *choice(MEASURES)]] = Field(
        default_factory=list,
        description="Further measures, with parameters: {name: interval_sd, width: 0.1}",
    )
    attacks: list[Annotated[Attack, *choice(ATTACKS)]] = Field(
        default_factory=list,
        description="Further attacks, with parameters: {name: nearest_record}",
    )
    suppression: bool = Field(False, description="The release may have fewer rows.")

    @property
    def chosen(self) -> tuple[Taker, ...]:
        """Measures and attacks with parameters of their own."""
        own: tuple[Taker, ...] = (*self.measures, *self.attacks)
        if self.targets is None:
            return own
        listed = {one.key for one in own}
        sampled = [
            ATTACKS.build({"name": attack.key, "targets": self.targets})
            for attack in ATTACKS
            if attack.key not in listed and "targets" in parameters_of(attack)
        ]
        return (*own, *sampled)

    @property
    def named(self) -> frozenset[str]:
        """The measures that are listed, one way or another."""
        if self.take == "all":
            return frozenset(CATALOGUE)
        listed = self.take if isinstance(self.take, list) else ()
        own: tuple[Taker, ...] = (*self.measures, *self.attacks)
        return frozenset((*listed, *(about.key for one in own for about in gives(one))))


class Method(_Part):
    """The choice on each axis."""

    space: Annotated[Space, *choice(SPACES)] = Euclidean()
    grouping: Annotated[Grouping | None, *choice(GROUPINGS)] = Field(
        None, description="refined if not said. Only releases that make groups use it."
    )
    release: Annotated[Release, *choice(RELEASES)] = Centroid()

    @model_validator(mode="after")
    def _with_grouping(self) -> Self:
        """Fill in the default grouping if the release makes groups, as if the policy named it."""
        if self.grouping is None and self.release.by_group:
            object.__setattr__(self, "grouping", Refined())
        return self


@dataclass(frozen=True)
class Groups:
    """Who makes the groups of a release, and how many records each holds at least."""

    grouping: Grouping
    k: int


class Policy(_Part):
    """Everything a run needs to know besides the data and the seed."""

    version: Literal[1] = 1
    input: Source | None = None
    output: Sink | None = None
    columns: dict[str, Annotated[ColumnPolicy, BeforeValidator(_short_role)]] = Field(min_length=1)
    unlisted: Literal["error", "drop", "keep"] = Field(
        "error", description="What happens to columns the policy does not name."
    )
    k: Annotated[int, Field(ge=2, le=MOST_ROWS, strict=True)] | None = Field(
        None,
        description="Every record hides among at least k. Required by releases that make groups.",
    )
    method: Method = Method()
    constraints: Constraints = Constraints()
    nulls: NullPolicy = NullPolicy.OWN_CATEGORY
    seed: SeedSource | None = Field(None, description="Random when not given.")
    gates: dict[str, Number] = Field(
        default_factory=dict, description="min_<measure> or max_<measure>: limit."
    )
    audit: AuditPolicy = AuditPolicy()
    private: Private | None = Field(None, description="Keeps the pairing for later audits.")
    runs: Path = Field("runs", description="Folder for the manifests, one folder a run.")

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.with_role(Role.QUASI_IDENTIFIER)

    def with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role is role)

    def constrained(self, rule: Diversity | Closeness) -> tuple[str, ...]:
        """The columns that a constraint is about."""
        return tuple(rule.columns) or self.with_role(Role.SENSITIVE)

    @property
    def promise(self) -> Promise:
        """What the release guarantees."""
        return self.method.release.promise(self.quasi_identifiers, self.k)

    @property
    def groups(self) -> Groups | None:
        """How groups are made; None where the release makes none."""
        if self.method.grouping is None or self.k is None:
            return None
        return Groups(self.method.grouping, self.k)

    @property
    def few(self) -> int:
        """Counts of fewer records than this are not shown."""
        return few(self.k)

    @property
    def private_places(self) -> dict[str, str]:
        """Folders that no reader of the release may see, by their paths in the policy."""
        staging = self.output.staging if self.output is not None else None
        named = {
            "runs": self.runs,
            "output.staging": staging,
            "private.path": self.private.path if self.private is not None else None,
            "audit.table.path": self.audit.table.path if self.audit.table is not None else None,
        }
        return {where: path for where, path in named.items() if path is not None}

    def meaning(self) -> str:
        """Hash of the parts of the policy that decide about the published rows, not their places.

        Draws are keyed by it: two releases of one table by other policies share no draw, so
        that their rows cannot be linked by position.
        """
        parts = ("columns", "unlisted", "k", "method", "constraints", "nulls")
        return _hashed({name: part for name, part in self.to_dict().items() if name in parts})

    def to_dict(self) -> dict[str, Any]:
        """The policy as a mapping of the YAML's shape, with every default."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def digest(self) -> str:
        """Hash of the policy: the same for two files that mean the same."""
        return _hashed(self.to_dict())


def _hashed(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def problems_of(error: ValidationError) -> list[Problem]:
    """Every mistake pydantic found, with its path in the YAML file."""
    return [Problem(path, text) for path, text in mistakes(error)]

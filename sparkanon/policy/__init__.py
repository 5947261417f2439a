"""1 WHAT: the policy of a release: its model, its checks, and how it is loaded."""

from sparkanon.policy.loading import (
    check_policy,
    load_policy,
    make_policy,
    read_seed,
    schema_text,
)
from sparkanon.policy.model import (
    ColumnPolicy,
    ColumnType,
    Method,
    NullPolicy,
    Policy,
    Role,
    SeedSource,
    Sink,
    Source,
)

__all__ = [
    "ColumnPolicy",
    "ColumnType",
    "Method",
    "NullPolicy",
    "Policy",
    "Role",
    "SeedSource",
    "Sink",
    "Source",
    "check_policy",
    "load_policy",
    "make_policy",
    "read_seed",
    "schema_text",
]

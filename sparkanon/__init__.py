"""sparkanon: turn a table about people into a table that can be shared, and prove that it is safe.

The folders are the data flow:

policy      1 what: the policy of a release, checked before anything runs
spaces      2 how far: the distance between two records
blocks      3 coarse: the tree that cuts a table into blocks
groupings   4 who together: at least k records each
releases    5 what is published for a group
measures    6 what it cost, what can still leak
engine      the only place that knows Spark; `engine/pipeline.py` is the flow
report      the HTML page about a run
cli         the commands
local       groups of an array in memory, without Spark
saved       fitted spaces and trees as JSON text and back
numeric     shared number code, below the axes

`anonymize(df, policy)` and `audit(original, released, policy)` are the ways in from Python,
`group(array, k)` and `microaggregate(array, k)` without Spark, `sparkanon --help` from a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkanon.errors import GateError, InputError, PolicyError, SparkanonError
from sparkanon.local import group, microaggregate
from sparkanon.policy import Policy, load_policy

if TYPE_CHECKING:
    from sparkanon.engine.audit import Audit, audit
    from sparkanon.engine.pipeline import Release, anonymize

__all__ = [
    "Audit",
    "GateError",
    "InputError",
    "Policy",
    "PolicyError",
    "Release",
    "SparkanonError",
    "anonymize",
    "audit",
    "group",
    "load_policy",
    "microaggregate",
]


def __getattr__(name: str) -> Any:
    """Spark is imported when something that needs it is asked for."""
    if name in ("Release", "anonymize"):
        from sparkanon.engine import pipeline

        return getattr(pipeline, name)
    if name in ("Audit", "audit"):
        from sparkanon.engine import audit

        return getattr(audit, name)
    raise AttributeError(f"module 'sparkanon' has no attribute '{name}'")

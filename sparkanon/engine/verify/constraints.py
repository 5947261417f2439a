"""l-diversity and t-closeness as conditions on the groups, and their check on what was staged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame

from sparkanon.catalogue import CATALOGUE
from sparkanon.engine.count.sensitive import Sensitive, diversity_of, sensitive
from sparkanon.engine.sql.names import RULED, quoted
from sparkanon.errors import InputError, Problem, VerificationError, counted
from sparkanon.measures import Measure, diversity
from sparkanon.measures.attributes import worst
from sparkanon.numeric import guard as kernel
from sparkanon.policy import Policy

_KINDS = {
    "l_distinct": kernel.DISTINCT,
    "l_entropy": kernel.ENTROPY,
    "l_recursive": kernel.RECURSIVE,
    "t_closeness": kernel.CLOSE,
}


@dataclass(frozen=True)
class Rule:
    """A limit for a measure of a sensitive column, which every class must keep."""

    measure: str
    column: str
    limit: float
    c: float = 2.0

    @property
    def is_least(self) -> bool:
        """Whether the limit is the least value that is allowed, not the largest."""
        return CATALOGUE[self.measure].better == "higher"

    def broken_by(self, value: float) -> bool:
        return value < self.limit if self.is_least else value > self.limit


@dataclass(frozen=True)
class Constraints:
    """The rules of a policy and the columns they are about; shipped to the executors."""

    rules: tuple[Rule, ...] = ()
    columns: tuple[Sensitive, ...] = ()  # the column of each rule

    @property
    def extra(self) -> list[str]:
        """The cells that rules look at, in SQL, beside the rows that are masked."""
        return [f"{column.cell} as {RULED}{i}" for i, column in enumerate(self.columns)]

    def guard(self, table: pa.Table, order: npt.NDArray[np.int64]) -> kernel.Guard:
        """The rules over the rows of a block in this order."""
        return kernel.make_guard(
            [
                self._rule(i, table.column(f"{RULED}{i}").take(order).combine_chunks())
                for i in range(len(self.rules))
            ]
        )

    def _rule(self, i: int, cells: pa.Array) -> kernel.Rule:
        rule, column = self.rules[i], self.columns[i]
        kind, codes = _KINDS[rule.measure], column.distinct_codes
        if kind == kernel.CLOSE:
            kind, codes = kernel.CLOSE_ORDERED if column.ordered else kind, column.of
        return kernel.Rule(kind, rule.limit, rule.c, codes(cells), column.shares, column.nulls)


def rules_of(policy: Policy) -> Iterator[Rule]:
    """What the policy's `constraints` say, a rule for each sensitive column they are about."""
    diverse, close = policy.constraints.l_diversity, policy.constraints.t_closeness
    if diverse is not None:
        for name in policy.constrained(diverse):
            yield Rule(f"l_{diverse.kind}", name, diverse.least, diverse.c or 2.0)
    if close is not None:
        for name in policy.constrained(close):
            yield Rule("t_closeness", name, close.t)


def constraints(rows: DataFrame, policy: Policy) -> Constraints:
    """Look at the sensitive columns that the policy constrains, or refuse what cannot be."""
    rules = tuple(rules_of(policy))
    seen = {rule.column: sensitive(rows, quoted(rule.column)) for rule in rules}
    made = Constraints(rules, tuple(seen[rule.column] for rule in rules))
    problems = [
        Problem(
            "constraints.l_diversity",
            f"'{rule.column}' has only "
            + counted(int(np.count_nonzero(column.counts)), "value", "different values"),
        )
        for rule, column in zip(made.rules, made.columns, strict=True)
        if rule.is_least and np.count_nonzero(column.counts) < rule.limit
    ]
    if problems:
        raise InputError(problems)
    return made


def impossible() -> InputError:
    return InputError(
        Problem("constraints", "do not hold even if all records are one group; ask for less")
    )


def check(staged: DataFrame, made: Constraints, classes: Sequence[str]) -> list[Measure]:
    """Measure every rule on the staged table, or refuse it.

    This uses other code than the kernels that made the groups.
    """
    found, problems = list[Measure](), list[Problem]()
    measured = dict[tuple[str, float], diversity.Diversity]()
    for rule, column in zip(made.rules, made.columns, strict=True):
        one = (rule.column, rule.c)
        if one not in measured:
            measured[one] = diversity_of(staged, classes, column, rule.c)
        value = float(getattr(measured[one], rule.measure))
        found.append(Measure(rule.measure, value, rule.column))
        if rule.broken_by(value):
            text = f"{rule.measure} of '{rule.column}' is {value:.6g}, the limit {rule.limit:g}"
            problems.append(Problem("constraints", text))
    if problems:
        raise VerificationError(problems)
    kinds = dict.fromkeys(one.measure for one in found)
    tables = (
        worst(CATALOGUE[kind], [one for one in found if one.measure == kind]) for kind in kinds
    )
    return [*found, *(one for table in tables for one in table)]

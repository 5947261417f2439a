"""What a class reveals about a sensitive column: l-diversity, t-closeness, homogeneous classes.

Machanavajjhala et al. 2007, l-diversity, https://doi.org/10.1145/1217299.1217302 (distinct;
entropy, definition 4.1; recursive, definition 4.2) and Li, Li & Venkatasubramanian 2007,
t-closeness, https://doi.org/10.1109/ICDE.2007.367856 (section 4). A class is the set of records
that share all published quasi-identifiers. A null is a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sparkanon.measures.anonymity import OfClasses
from sparkanon.numeric.records import Floats

Longs = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]

DIGITS = 9  # three equal shares have exp(entropy) 3, not 2.9999999999999996: gates compare


@dataclass(frozen=True)
class Diversity:
    """The worst values of a set of complete classes; sets that share no class can be added.

    Attributes
    ----------
    l_distinct : int
        Fewest distinct values in a class.
    l_entropy : float
        Least exp(H), H the entropy of a class with natural logarithms: entropy l-diversity
        (H >= log l) holds for every l up to this one.
    l_recursive : int
        Largest l for which every class has r_1 < c (r_l + ... + r_m), r_1 >= r_2 >= ... the
        counts of its values; 0 where not even l = 1 holds, which takes c <= 1.
    t_closeness : float
        Largest earth mover's distance between a class and the whole column.
    alone : int
        Records in classes with only one value.
    """

    classes: int = 0
    records: int = 0
    l_distinct: int = 0
    l_entropy: float = 0.0
    l_recursive: int = 0
    t_closeness: float = 0.0
    alone: int = 0

    def __add__(self, other: Diversity) -> Diversity:
        if self.classes == 0 or other.classes == 0:
            return self if other.classes == 0 else other
        return Diversity(
            classes=self.classes + other.classes,
            records=self.records + other.records,
            l_distinct=min(self.l_distinct, other.l_distinct),
            l_entropy=min(self.l_entropy, other.l_entropy),
            l_recursive=min(self.l_recursive, other.l_recursive),
            t_closeness=max(self.t_closeness, other.t_closeness),
            alone=self.alone + other.alone,
        )

    @property
    def homogeneous(self) -> float:
        """Share of records in classes with only one value: whoever is in one is known."""
        return self.alone / self.records if self.records else 0.0


@dataclass(frozen=True)
class Diversities(OfClasses[Mapping[str, Diversity]]):
    """For each sensitive column, how diverse it is in the classes of the release."""

    c: float  # of recursive (c, l)-diversity


@dataclass(frozen=True)
class Runs:
    """The distinct (class, value) pairs, sorted, and how many records have them."""

    code: Longs  # (pairs,)
    count: Longs  # (pairs,)
    first: Longs  # (classes,) where the pairs of a class begin
    of: Longs  # (pairs,) class of a pair, 0, 1, ...
    size: Longs  # (classes,) records

    def within(self, running: Longs) -> Longs:
        """Sums that run over all pairs, as sums that begin anew with every class."""
        before = running[self.first] - self.count[self.first]
        return np.asarray(running - before[self.of])


def local(
    cls: Codes,
    codes: Codes,
    counts: Codes,
    *,
    ordered: bool,
    c: float = 2.0,
    values: Codes | None = None,
    nulls: bool = False,
) -> Diversity:
    """Tally of complete classes; O(n log n), whatever the number of classes and values.

    Parameters
    ----------
    cls : integer array of shape (n,)
        Class of every record as a code 0, 1, ..., in any order.
    codes : integer array of shape (n,)
        Its value of the sensitive column as a code 0..m-1, in the column's order if `ordered`.
    counts : integer array of shape (m,)
        How often every value occurs in the whole table, not only in these classes.
    ordered : bool
        Distance of two values for t-closeness: their ranks' (a number), or 1 (a category).
    c : float
        Of recursive (c, l)-diversity.
    values : integer array of shape (n,)
        Where `codes` join values for t-closeness: codes that do not, for everything else.
    nulls : bool
        Whether the last code of an ordered column stands for null, which is 1 from every number.
    """
    if len(cls) == 0:
        return Diversity()
    ranks = _runs(np.asarray(cls, np.int64), np.asarray(codes, np.int64), len(counts))
    runs = ranks
    if values is not None:
        runs = _runs(np.asarray(cls, np.int64), np.asarray(values, np.int64), values.max() + 1)
    distinct = np.bincount(runs.of)
    emd = (_emd_with_nulls if nulls else _emd_ordered) if ordered else _emd_nominal
    return Diversity(
        classes=len(runs.size),
        records=len(cls),
        l_distinct=int(distinct.min()),
        l_entropy=round(float(np.exp(_entropy(runs).min())), DIGITS),
        l_recursive=int(_recursive(runs, c).min()),
        t_closeness=round(float(emd(ranks, np.asarray(counts, np.int64)).max()), DIGITS),
        alone=int(runs.size[distinct == 1].sum()),
    )


def merge(parts: Iterable[Diversity]) -> Diversity:
    """The tally of several sets of classes that share no class."""
    return sum(parts, Diversity())


def _runs(cls: Longs, codes: Longs, m: int) -> Runs:
    pairs = np.sort(cls * m + codes)
    starts = np.flatnonzero(np.diff(pairs, prepend=pairs[0] - 1))
    count = np.diff(starts, append=len(pairs))
    return _by_class(*np.divmod(pairs[starts], m), count)


def _by_class(named: Longs, code: Longs, count: Longs) -> Runs:
    """Runs from sorted pairs of class and value."""
    new = np.diff(named, prepend=named[0] - 1) != 0
    first = np.flatnonzero(new)
    return Runs(code, count, first, np.cumsum(new) - 1, np.add.reduceat(count, first))


def _entropy(runs: Runs) -> Floats:
    """Natural entropy of every class: log n - (sum of n_i log n_i) / n."""
    weighted = np.add.reduceat(runs.count * np.log(runs.count), runs.first)
    return np.asarray(np.log(runs.size) - weighted / runs.size)


def _recursive(runs: Runs, c: float) -> Longs:
    """The largest l of every class: how many of its tails r_l + ... + r_m are long enough."""
    order = np.lexsort((-runs.count, runs.of))
    falling = Runs(runs.code[order], runs.count[order], runs.first, runs.of, runs.size)
    taken = falling.within(np.cumsum(falling.count)) - falling.count
    tail = runs.size[runs.of] - taken
    most = falling.count[runs.first]
    enough = most[runs.of] < c * tail
    return np.add.reduceat(enough.astype(np.int64), runs.first)


def _emd_nominal(runs: Runs, counts: Longs) -> Floats:
    """Half the L1 distance: what the values of a class have above their share in the table."""
    above = runs.count / runs.size[runs.of] - counts[runs.code] / counts.sum()
    return np.add.reduceat(np.maximum(above, 0.0), runs.first)


def _emd_ordered(runs: Runs, counts: Longs) -> Floats:
    """Sum over all values of |cumulative difference| / (m - 1), for every class.

    A class is cumulated in steps. Between two of its values its share q stands still, while the
    table's share rises from below q to above it: two differences of prefix sums instead of a
    look at every value. O(pairs log m + m).
    """
    m = len(counts)
    if m == 1:
        return np.zeros(len(runs.size))
    rising = np.cumsum(counts)
    total = float(rising[-1])
    prefix = np.concatenate([[0], np.cumsum(rising)])  # whole numbers: differences are exact
    share = runs.within(np.cumsum(runs.count)) / runs.size[runs.of]
    begin, end = runs.code, np.append(runs.code[1:], m)
    end[runs.first[1:] - 1] = m
    turn = np.clip(np.searchsorted(rising / total, share), begin, end)
    below = share * (turn - begin) - (prefix[turn] - prefix[begin]) / total
    above = (prefix[end] - prefix[turn]) / total - share * (end - turn)
    before = prefix[runs.code[runs.first]] / total  # up to its first value a class has nothing
    return np.asarray((np.add.reduceat(below + above, runs.first) + before) / (m - 1))


def _emd_with_nulls(runs: Runs, counts: Longs) -> Floats:
    """As `_emd_ordered` for numbers; the last code is null, at distance 1 from all of them.

    The difference in the share of nulls is moved between nulls and numbers, and the rest among the
    numbers, in the proportions of class and table. This is never less than the true distance.
    """
    null = runs.code == len(counts) - 1
    own = np.bincount(runs.of[null], runs.count[null], minlength=len(runs.size)) / runs.size
    whole = counts[-1] / counts.sum()
    far = np.zeros(len(runs.size))
    if not null.all():
        numbers = _by_class(runs.of[~null], runs.code[~null], runs.count[~null])
        far[np.unique(runs.of[~null])] = _emd_ordered(numbers, counts[:-1])
    return np.asarray(np.abs(own - whole) + np.minimum(1 - own, 1 - whole) * far)

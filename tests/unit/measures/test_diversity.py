"""Diversity and closeness by hand, against a dense matrix, and merged over sets of classes."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from toys import taken

from sparkanon.measures.attributes import (
    USUAL_C,
    Homogeneous,
    LDistinct,
    LEntropy,
    LRecursive,
    TCloseness,
)
from sparkanon.measures.diversity import Diversities, Diversity, local, merge


def tally(
    classes: list[list[int]], counts: list[int] | None = None, *, ordered: bool = False,
    c: float = 2.0,
) -> Diversity:  # fmt: skip
    """Of classes given as lists of codes; the table is these classes where no counts are given."""
    cls = np.repeat(np.arange(len(classes)), [len(codes) for codes in classes])
    codes = np.concatenate([np.array(codes) for codes in classes])
    whole = np.bincount(codes) if counts is None else np.array(counts)
    return local(cls, codes, whole, ordered=ordered, c=c)


def test_distinct_and_homogeneous_by_hand() -> None:
    found = tally([[0, 0, 1], [2, 2], [0, 1, 2, 2]])
    assert (found.classes, found.records) == (3, 9)
    assert found.l_distinct == 1
    assert found.homogeneous == pytest.approx(2 / 9)
    assert tally([[0, 0, 1], [0, 1, 2, 2]]).l_distinct == 2


def test_entropy_by_hand() -> None:
    # Shares 1/2, 1/4, 1/4: H = 1.5 log 2, exp(H) = 2^1.5
    assert tally([[0, 0, 1, 2]]).l_entropy == pytest.approx(2**1.5)
    assert tally([[0, 0, 1, 2], [0, 0, 0]]).l_entropy == 1.0


@pytest.mark.parametrize("values", range(1, 40))
def test_equal_shares_have_exactly_as_many_values_as_they_have(values: int) -> None:
    # A gate on l = 3 must not stop on 2.9999999999999996.
    found = tally([list(range(values)) * 7])
    assert found.l_entropy == values
    assert found.l_distinct == values


def test_recursive_by_hand() -> None:
    # Counts 5, 3, 2, 1. c = 2: 5 < 2 (3+2+1) and 5 < 2 (2+1), but not 5 < 2 * 1: l = 3.
    # c = 1: 5 < 11 and 5 < 6, but not 5 < 3: l = 2. c = 6: 5 < 6 * 1: l = 4, all there are.
    counts = [[0] * 5 + [1] * 3 + [2] * 2 + [3]]
    assert tally(counts, c=2.0).l_recursive == 3
    assert tally(counts, c=1.0).l_recursive == 2
    assert tally(counts, c=6.0).l_recursive == 4
    # Equality is not enough: 2 < 2 * 1 is wrong.
    assert tally([[0, 0, 1]]).l_recursive == 1
    assert tally([[0]]).l_recursive == 1
    assert tally([[0]], c=1.0).l_recursive == 0
    # The table's is its worst class's; the order of the codes is of no matter.
    assert tally([[3] * 5 + [0] * 3 + [2] * 2 + [1], [0, 1, 1]]).l_recursive == 1


def test_closeness_of_the_paper() -> None:
    # Li, Li & Venkatasubramanian, section 4: salaries 3k..11k, the classes {3k, 4k, 5k} and
    # {6k, 8k, 11k} are 0.375 and 0.167 from the table.
    table = [1] * 9
    assert tally([[0, 1, 2]], table, ordered=True).t_closeness == pytest.approx(0.375)
    assert tally([[3, 5, 8]], table, ordered=True).t_closeness == pytest.approx(1 / 6)
    assert tally([[0, 1, 2], [3, 5, 8]], table, ordered=True).t_closeness == pytest.approx(0.375)
    # As categories each of three values has 1/3 instead of 1/9, the others lose as much.
    assert tally([[0, 1, 2]], table).t_closeness == pytest.approx(2 / 3)


def test_nulls_are_far_from_every_number() -> None:
    # The table: 40 % are 0, 40 % are 1, 20 % are null.
    counts = np.array([4, 4, 2])

    def closeness(*codes: int) -> float:
        cls = np.zeros(len(codes), np.int64)
        return local(cls, np.array(codes), counts, ordered=True, nulls=True).t_closeness

    assert closeness(2, 2, 2) == pytest.approx(0.8)  # as a largest number it would be 0.6
    assert closeness(0, 1) == pytest.approx(0.2)
    assert closeness(0) == pytest.approx(0.2 + 0.8 * 0.5)
    assert closeness(0, 0, 1, 1, 2) == pytest.approx(0.0)
    assert closeness(0, 2) == pytest.approx(0.3 + 0.5 * 0.5)


def test_joined_values_count_apart_for_diversity() -> None:
    cls, joined, values = np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]), np.array([7, 3, 5, 5])
    found = local(cls, joined, np.array([2, 2]), ordered=True, values=values)
    assert (found.l_distinct, found.t_closeness) == (3, 0.0)
    assert local(cls, joined, np.array([2, 2]), ordered=True).l_distinct == 2


def test_closeness_at_the_ends() -> None:
    assert tally([[0, 1], [1, 0]]).t_closeness == 0.0
    assert tally([[0, 1], [1, 0]], ordered=True).t_closeness == 0.0
    assert tally([[0, 0], [0]], ordered=True).t_closeness == 0.0  # a constant column
    # Everything at one end against everything at the other: nearly the whole way.
    assert tally([[4]], [999_999, 0, 0, 0, 1], ordered=True).t_closeness == pytest.approx(0.999999)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("m", [1, 2, 7, 300])
def test_equals_the_dense_matrix(m: int, ordered: bool) -> None:
    rng = np.random.default_rng(m)
    cls = rng.permutation(np.repeat(np.arange(60), rng.integers(1, 30, 60)))
    codes = (rng.beta(1, 3, len(cls)) * m).astype(int)
    elsewhere = rng.integers(0, 9, m)  # the rest of the table is in other partitions
    counts = np.bincount(codes, minlength=m) + elsewhere
    found = local(cls, codes, counts, ordered=ordered, c=1.5)
    dense = np.zeros((60, m))
    np.add.at(dense, (cls, codes), 1)
    q = dense / dense.sum(axis=1, keepdims=True)
    gap = q - counts / counts.sum()
    if ordered:
        emd = np.abs(gap.cumsum(axis=1)).sum(axis=1) / max(m - 1, 1)
    else:
        emd = np.abs(gap).sum(axis=1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(q > 0, q * np.log(q), 0.0).sum(axis=1)
    falling = -np.sort(-dense, axis=1)
    tails = falling[:, ::-1].cumsum(axis=1)[:, ::-1]
    assert found.l_distinct == (dense > 0).sum(axis=1).min()
    assert found.l_entropy == pytest.approx(np.exp(entropy).min())
    assert found.l_recursive == (falling[:, :1] < 1.5 * tails).sum(axis=1).min()
    assert found.t_closeness == pytest.approx(emd.max(), abs=1e-9)
    assert found.alone == dense.sum(axis=1)[(dense > 0).sum(axis=1) == 1].sum()


@pytest.mark.parametrize("ordered", [False, True])
def test_sets_of_classes_add_up_to_the_whole(ordered: bool) -> None:
    rng = np.random.default_rng(5)
    cls, codes = rng.integers(0, 200, 1000), rng.integers(0, 20, 1000)
    counts = np.bincount(codes)
    whole = local(cls, codes, counts, ordered=ordered)
    parts = [
        local(cls[cls % 7 == p], codes[cls % 7 == p], counts, ordered=ordered) for p in range(7)
    ]
    assert merge(parts) == whole
    assert merge(reversed([*parts, Diversity()])) == whole
    assert merge([]) == Diversity() == local(cls[:0], codes[:0], counts, ordered=ordered)
    assert pickle.loads(pickle.dumps(whole)) == whole


def test_named_results() -> None:
    specs = (LDistinct(), LEntropy(), LRecursive(), TCloseness(), Homogeneous())
    columns = {"illness": tally([[0, 1], [1, 1]]), "debt": tally([[0, 1], [0, 1]])}
    measures = taken(specs, {Diversities(USUAL_C): columns}, [])
    found = {(m.measure, m.column): m.value for m in measures}
    by_hand = {
        "l_distinct": (1.0, 2.0, 1.0),
        "l_entropy": (1.0, 2.0, 1.0),
        "l_recursive": (1.0, 2.0, 1.0),
        "t_closeness": (0.25, 0.0, 0.25),
        "homogeneous": (0.5, 0.0, 0.5),
    }
    for name, (illness, debt, worst) in by_hand.items():
        assert found[name, "illness"] == illness
        assert found[name, "debt"] == debt
        assert found[name, None] == worst, "the table has the value of its worst column"


@pytest.mark.parametrize("ordered", [False, True])
def test_many_classes_and_many_values_need_no_matrix(ordered: bool) -> None:
    # 200,000 x 10,000 cells would be 16 GB and minutes.
    rng = np.random.default_rng(6)
    cls, codes = rng.permutation(np.repeat(np.arange(200_000), 5)), rng.integers(0, 10_000, 10**6)
    begin = time.perf_counter()
    found = local(cls, codes, np.bincount(codes, minlength=10_000), ordered=ordered)
    assert time.perf_counter() - begin < 10
    assert found.classes == 200_000

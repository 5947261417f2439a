"""Synthetic records: the group's mean and covariance, and none of its records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkanon.numeric.records import Bools, Column, Floats, Grid, Labels, Scale
from sparkanon.releases import Grouped, NewValues
from sparkanon.releases.hybrid import Hybrid

KINDS = ["normal", "ties", "constant", "collinear", "duplicates", "far away", "huge"]


def table(kind: str, d: int, n: int, rng: np.random.Generator) -> Floats:
    values = rng.normal(size=(d, n))
    if kind == "ties":
        values = rng.integers(0, 3, size=(d, n)).astype(float)
    elif kind == "constant":
        values[0] = 0.1 + 0.2
    elif kind == "collinear":
        values = np.outer(np.arange(1.0, d + 1), values[0])
    elif kind == "duplicates":
        values = values[:, rng.integers(0, max(n // 4, 1), n)]
    elif kind == "far away":
        values += 1e9
    elif kind == "huge":
        values *= 10.0 ** rng.integers(-200, 200, size=(d, 1))
    return values


def publish(
    values: Floats,
    labels: Labels,
    seed: int = 1,
    null: Bools | None = None,
    grid: Grid = Grid(),  # noqa: B008 (a value)
) -> tuple[Floats, Bools]:
    null = np.zeros(values.shape, np.bool_) if null is None else null
    records = tuple(
        Column(f"c{j}", Scale.NUMERIC, np.where(null[j], 0.0, values[j]), null[j], grid)
        for j in range(len(values))
    )
    new = Hybrid().publish(records, Grouped(labels, np.random.default_rng(seed)))
    assert all(isinstance(part, NewValues) for part in new)
    parts = [part for part in new if isinstance(part, NewValues)]
    return np.stack([p.values for p in parts]), np.stack([p.null for p in parts])


def covariance(values: Floats, unit: Floats) -> Floats:
    centred = (values - values.mean(axis=1, keepdims=True)) / unit
    return np.asarray(centred @ centred.T / values.shape[1])


@given(
    st.lists(st.integers(4, 25), min_size=1, max_size=8),
    st.integers(1, 9),
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
)
@settings(max_examples=150, deadline=None)
def test_means_and_covariances_of_groups_of_any_size(
    sizes: list[int], d: int, kind: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.int32)
    values = table(kind, d, len(labels), rng)
    made, _ = publish(values, labels, seed)
    for g, size in enumerate(sizes):
        x, z = values[:, labels == g], made[:, labels == g]
        unit = np.ptp(x, axis=1, keepdims=True)
        same = unit[:, 0] == 0
        assert (z[same] == x[same]).all()  # constants stay, to the last bit
        unit = np.where(unit > 0, unit, 1.0)
        rounding = 1e-12 + 1e-15 * np.abs(x / unit).max()
        assert np.abs((z.mean(axis=1) - x.mean(axis=1)) / unit[:, 0]).max() < 10 * rounding
        share = 1.0 if size > d else (size - 1) / d
        assert np.abs(covariance(z, unit) - share * covariance(x, unit)).max() < 1e-9 + rounding


def test_the_order_of_columns_and_of_other_groups_does_not_matter_to_the_moments() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(10, dtype=np.int32), 12)
    values = rng.normal(size=(4, 120))
    one, _ = publish(values, labels)
    two, _ = publish(values[::-1], labels)
    for g in range(10):
        at = labels == g
        assert np.cov(one[:, at]) == pytest.approx(np.cov(two[::-1][:, at]))


def test_nobody_keeps_a_record_and_draws_are_uniform() -> None:
    # one column, three records 0, 0, 3: the deviations are a random point of a circle of radius
    # sqrt(6), so the first is sqrt(6) * sqrt(2/3) cos(t) = 2 cos(t) for a uniform t
    groups = 20_000
    labels = np.repeat(np.arange(groups, dtype=np.int32), 3)
    made, _ = publish(np.tile([0.0, 0.0, 3.0], groups)[np.newaxis], labels)
    first = made[0].reshape(-1, 3)[:, 0]
    angle = np.arccos(np.clip((first - 1.0) / 2.0, -1, 1)) / np.pi
    assert np.abs(np.sort(angle) - (np.arange(groups) + 0.5) / groups).max() < 0.0138  # KS, 99.9 %
    assert len(np.unique(first.round(12))) > 19_900


def test_small_groups_are_shrunk_by_hand() -> None:
    # two records 10 apart in one of five columns: variance / 5, distance / sqrt 5
    values = np.zeros((5, 2))
    values[2] = [0.0, 10.0]
    made, _ = publish(values, np.zeros(2, np.int32))
    assert sorted(made[2]) == pytest.approx([5 - 5 / np.sqrt(5), 5 + 5 / np.sqrt(5)])


@given(st.integers(3, 30), st.integers(1, 5), st.floats(0.05, 0.95), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_nulls_change_places_and_columns_keep_mean_and_variance(
    size: int, d: int, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3, dtype=np.int32), size)
    values = rng.normal(size=(d, 3 * size)) + 5
    null = rng.random((d, 3 * size)) < share
    made, hidden = publish(values, labels, seed, null)
    for g in range(3):
        at = labels == g
        reported = [j for j in range(d) if 2 * null[j, at].sum() < size]
        patterns = (sorted(map(tuple, mask[reported][:, at].T)) for mask in (null, hidden))
        assert next(patterns) == next(patterns)
        for j in range(d):
            x, z = values[j, at & ~null[j]], made[j, at & ~hidden[j]]
            if j not in reported:
                assert len(z) == 0
                continue
            assert z.mean() == pytest.approx(x.mean())
            kept = 1.0 if size > d else (size - 1) / d
            if len(x) < min(size, 4):  # two or three give themselves away
                kept = 0.0
            assert z.var() == pytest.approx(kept * x.var())


def test_a_null_pattern_does_not_stay_with_its_record() -> None:
    groups = 20_000
    labels = np.repeat(np.arange(groups, dtype=np.int32), 5)
    null = np.tile([True, False, False, False, False], groups)[np.newaxis]
    values = np.tile([0.0, 1.0, 2.0, 3.0, 4.0], groups)[np.newaxis]
    _, hidden = publish(values, labels, 3, null)
    at = hidden.reshape(-1, 5).mean(axis=0)
    assert at == pytest.approx([0.2] * 5, abs=0.013)


def rows(values: Floats, null: Bools) -> list[tuple[float, ...]]:
    return [tuple(row) for row in np.where(null, np.inf, values + 0.0).T.tolist()]


def given_back(x: list[tuple[float, ...]], z: list[tuple[float, ...]]) -> int:
    """Published records that are an original of the group, but for one that all share."""
    empty = tuple([np.inf] * len(x[0]))
    known = set(x) - {empty}
    return 0 if len(set(z)) == 1 else sum(one in known for one in z)


GRIDS = {
    "ages": Grid(0, -128, 127),
    "cents": Grid(2),
    "flags": Grid(0, 0, 1),
    "singles": Grid(None, -3e38, 3e38, single=True),
}


@pytest.mark.parametrize("kind", GRIDS)
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_no_rounded_record_is_one_of_its_group(kind: str, share: float, d: int) -> None:
    rng = np.random.default_rng(d)
    labels = rng.permutation(np.repeat(np.arange(300, dtype=np.int32), rng.integers(4, 9, 300)))
    scale = {"ages": 3.0, "cents": 0.05, "flags": 1.0, "singles": 1e-3}[kind]
    grid = GRIDS[kind]
    values = grid.nearest(rng.normal(size=(d, len(labels))) * scale + 0.5)
    null = rng.random(values.shape) < share
    made, hidden = publish(values, labels, 5, null, grid)
    made = grid.nearest(made)
    centroids = kept = 0
    for g in range(300):
        at = labels == g
        x, z = rows(values[:, at], null[:, at]), rows(made[:, at], hidden[:, at])
        assert given_back(x, z) == 0
        centroids += len(set(z)) == 1 < len(set(x))
        if len(set(z)) > 1 and share == 0.0 and kind != "flags":  # ends of a flag cut deviations
            kept += 1
            slack = 1.0 if grid.places is None else 10.0**-grid.places / 2
            assert np.abs(made[:, at].mean(1) - values[:, at].mean(1)).max() <= slack
    if kind in ("ages", "cents") and d > 1 and share == 0.0:
        assert kept > 150  # most groups find other values; they are not all centroids
    if kind == "flags" and d == 1 and share == 0.0:
        assert centroids > 250  # both values are somebody's, so there is nothing to draw


def test_a_group_drawn_again_changes_no_other_group_and_is_drawn_the_same_again() -> None:
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(60, dtype=np.int32), 5)
    values = np.rint(rng.normal(size=(2, 300)) * 4)
    one, two = (publish(values, labels, 3, grid=Grid(0, -99, 99))[0] for _ in range(2))
    first, _ = publish(values, labels, 3)  # rounded nowhere: nothing is drawn again
    assert (one == two).all()
    same = (one == first).all(axis=0).reshape(60, 5)
    assert (same.all(axis=1) | ~same.any(axis=1)).all()
    assert 10 < same.all(axis=1).sum() < 50


def test_records_of_nulls_and_equal_records_are_nobodys() -> None:
    labels = np.repeat(np.arange(2, dtype=np.int32), 6)
    values = np.concatenate(
        [np.full((2, 6), 7.0), [[1, 2, 9, 4, 6, 5], [9, 4, 1, 7, 2, 5]]], axis=1
    )
    null = np.zeros((2, 12), np.bool_)
    null[:, [6, 7]] = True  # two records of the second group hold nothing
    made, hidden = publish(values, labels, 1, null, Grid(0, -99, 99))
    assert (made[:, :6] == 7.0).all()
    assert not hidden[:, :6].any()
    assert hidden.all(axis=0).sum() == 2
    assert len(set(rows(made[:, 6:], hidden[:, 6:]))) > 2  # it did not get its centroid

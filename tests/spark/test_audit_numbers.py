"""The numbers of an audit against computations that share no code with it.

Two tests (`..._of_one_block`) hold Spark's many pieces against one block of the same measure
instead; what that measure computes is checked by hand in tests/unit/measures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from pycanon import anonymity
from pyspark.sql import DataFrame, SparkSession

import sparkanon
from sparkanon.attacks.nearest_record import NearestRecord
from sparkanon.attacks.needs import Linked
from sparkanon.catalogue import CATALOGUE
from sparkanon.engine.audit import Audit, audit
from sparkanon.engine.audit.run import FailedAuditError
from sparkanon.engine.count import sensitive
from sparkanon.engine.count.class_sizes import size_buckets
from sparkanon.engine.fit.facts import gather, with_key
from sparkanon.engine.linkage import linkage as linking
from sparkanon.engine.pairs import sampling
from sparkanon.engine.pairs.pairing import check_same
from sparkanon.engine.pairs.pairs import Sides
from sparkanon.engine.pairs.sides import compare, joined
from sparkanon.engine.sql.hidden import HiddenViews
from sparkanon.engine.table.columns import resolve
from sparkanon.errors import InputError
from sparkanon.measures import Given, Measure, entropy, grids, loss, moments
from sparkanon.measures.distortion import EigenDifference, Il1s, IlMetrics, Mse
from sparkanon.measures.intervals import IntervalSd, WithinSd
from sparkanon.measures.loss import Il, SquaredErrors, Sse, Sst
from sparkanon.measures.moments import PairedMoments
from sparkanon.needs import Known
from sparkanon.numeric.records import Column, Records, Scale
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import Policy, Role, make_policy
from sparkanon.spaces import Space
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower
from sparkanon.spaces.needs import Moments

Floats = npt.NDArray[np.float64]
Found = dict[tuple[str, str | None], Measure]

ATTRIBUTES = [key for key, about in CATALOGUE.items() if about.family == "attribute"]
ORDERED = ["a", "b", "e"]
QUASI = [*ORDERED, "word"]
KEPT_NULLS = {"nulls": "own_category", "k": 2}


def spread_out(spark: SparkSession, data: pd.DataFrame, partitions: int = 2) -> DataFrame:
    made = spark.createDataFrame(pa.Table.from_pandas(data, preserve_index=False))
    return made.repartition(partitions)


def audited(
    original: DataFrame, released: DataFrame, policy: Any, key: str | None = "id"
) -> Audit:
    """Whether or not its gates are passed."""
    try:
        return audit(original, released, policy, key=key)
    except FailedAuditError as failed:
        return failed.audit


def by_name(measures: Any) -> Found:
    return {(m.measure, m.column): m for m in measures}


def number(found: Found, measure: str, column: str | None = None) -> float:
    value = found[measure, column].value
    assert value is not None
    return value


def values(found: Found, measure: str) -> dict[str | None, float | None]:
    return {column: m.value for (name, column), m in found.items() if name == measure}


def block(data: pd.DataFrame, alike: pd.DataFrame) -> Records:
    """All rows as one block; categories are coded as in the table that it is compared with."""
    columns = []
    for name in data:
        cells, null = data[name], data[name].isna().to_numpy()
        if pd.api.types.is_numeric_dtype(cells):
            plain = cells.fillna(0).to_numpy(np.float64)
            columns.append(Column(str(name), Scale.NUMERIC, plain, null))
        else:
            known = pd.concat([data[name], alike[name]]).dropna().unique()
            codes = pd.Categorical(cells, sorted(known)).codes.astype(np.float64)
            columns.append(Column(str(name), Scale.NOMINAL, np.where(null, 0.0, codes), null))
    return tuple(columns)


def numpy_statistics(data: pd.DataFrame) -> tuple[ColumnStatistics, ...]:
    found = []
    for name in data:
        cells, n, nulls = data[name], len(data), int(data[name].isna().sum())
        if pd.api.types.is_numeric_dtype(cells):
            reported = cells.mean(), cells.std(ddof=0), cells.min(), cells.max()
            moment = [float(one) for one in reported]
            found.append(ColumnStatistics(str(name), Scale.NUMERIC, n, nulls, *moment))
        else:
            shares = cells.value_counts(dropna=False, normalize=True)
            differ = 1.0 - float((shares**2).sum())
            found.append(
                ColumnStatistics(str(name), Scale.NOMINAL, n, nulls, pair_difference=differ)
            )
    return tuple(found)


# 1. Linkage is exact, however many blocks search for it


class Pair(NamedTuple):
    sides: Sides
    together: DataFrame
    statistics: tuple[ColumnStatistics, ...]


def paired(original: DataFrame, released: DataFrame, **changes: Any) -> Pair:
    quasi = [name for name in original.columns if name != "id"]
    columns = {"id": "keep", **dict.fromkeys(quasi, "quasi_identifier")}
    policy: Policy = make_policy(KEPT_NULLS | {"columns": columns} | changes)
    resolved = resolve(policy, original.schema)
    facts = gather(
        with_key(original, resolved),
        resolved,
        policy.k,
        policy.nulls,
        HiddenViews(original.sparkSession),
    )
    compared, published = compare(facts.quasi, policy.with_role(Role.SENSITIVE), released)
    sides = joined(compared, published, original, released, "id", suppression=False)
    assert sides.pair is not None
    return Pair(sides, sides.pair, facts.statistics)


def brute_force(
    x: pd.DataFrame, z: pd.DataFrame, statistics: tuple[ColumnStatistics, ...], space: Space
) -> tuple[float, float]:
    """(masked to original, original to masked), all pairs of rows; ties share the credit.

    One attacker takes a released null for a value of its own, another one for any value, and a
    third one a released word, too, for all words that were published as it.
    """
    fitted = space.fit(Known({Moments(): statistics}))
    shape = len(z), len(x)
    own, any_, standing = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for original, released in zip(block(x, z), block(z, x), strict=True):
        here, there = fitted.points((original,)), fitted.points((released,))
        apart = np.zeros(shape)
        for j in range(here.d):
            gap = np.abs(there.values[j][:, np.newaxis] - here.values[j])
            apart += np.minimum(gap, here.metric.caps[j]) if here.metric.capped else gap * gap
        own += apart
        apart = np.where(released.null[:, np.newaxis], 0.0, apart)
        any_ += apart
        if original.scale is Scale.NOMINAL:
            cells = np.where(original.null, np.nan, original.values)  # which is equal to nothing
            behind = set(zip(released.values.tolist(), cells.tolist(), strict=True))
            covers = [
                [(word, cell) in behind for cell in cells.tolist()] for word in released.values
            ]
            apart = np.where(covers, 0.0, apart)
        standing += apart
    ways = (own, *(np.round(way, 9) for way in (any_, standing)))  # sums in another order are ties
    return max(map(credit, ways)), max(credit(way.T) for way in ways)


def credit(distance: Floats) -> float:
    nearest = distance == distance.min(axis=1, keepdims=True)
    return float(np.mean(np.diagonal(nearest) / nearest.sum(axis=1)))


def linked(pair: Pair, space: Space, targets: int | None = None, rows: int = 10**6) -> Found:
    links = linking.linkage(
        pair.sides, pair.together, pair.statistics, space, targets, block_rows=rows
    )
    attack = NearestRecord(targets=targets)
    known = Known({Linked(targets): links})
    return by_name(attack.finish(Given(tuple(pair.statistics), k=2), known))


BOTH_WAYS = "linkage_masked_to_original", "linkage_original_to_masked"


def both_ways(found: Found) -> tuple[float, float]:
    forth, back = BOTH_WAYS
    return number(found, forth), number(found, back)


class Rounds(NamedTuple):
    blocks: list[int]
    asked_twice: list[int]


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Rounds:
    """Watch how many blocks are searched, and how many records go to a second one."""
    seen = Rounds([], [])
    tree, round_ = linking._tree, linking._round

    def watched_tree(*given: Any) -> Any:
        seen.blocks.append(tree(*given).blocks)
        return tree(*given)

    def watched_round(
        table: DataFrame, search: linking.Search, blocks: int, *more: str
    ) -> DataFrame:
        if isinstance(search, linking.Elsewhere):
            seen.asked_twice.append(table.filter("id is not null").select("id").distinct().count())
        return round_(table, search, blocks, *more)

    monkeypatch.setattr(linking, "_tree", watched_tree)
    monkeypatch.setattr(linking, "_round", watched_round)
    return seen


def lattice(rng: np.random.Generator, n: int, nominal: bool) -> pd.DataFrame:
    """Few values, so that distances tie and rows are equal; nulls; a constant column."""
    data = pd.DataFrame(
        {
            "a": rng.integers(0, 9, n).astype(float),
            "b": rng.integers(0, 4, n).astype(float),
            "c": 7.0,
            "d": np.repeat(np.arange(n // 60), 60).astype(float),
        }
    )
    data.loc[rng.random(n) < 0.1, "b"] = None
    if nominal:
        data["word"] = rng.choice(["u", "v", "w", "x", None], n)
    return data


def classes_of(x: pd.DataFrame) -> pd.DataFrame:
    """Six neighbours share the middle of `a` and all other cells of the first of them."""
    order = x.sort_values(["a", "d"], kind="stable").index.to_numpy()
    first = order[np.arange(len(x)) // 6 * 6]
    z = x.loc[first].set_axis(order).sort_index()
    middle = x["a"].loc[order].groupby(np.arange(len(x)) // 6).transform("mean")
    return z.assign(a=middle.sort_index())


def permuted_from(x: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    order = x.sort_values(["a", "d"], kind="stable").index.to_numpy()
    z = x.copy()
    for name in x:
        drawn = np.concatenate([rng.permutation(order[i : i + 6]) for i in range(0, len(x), 6)])
        z.loc[order, name] = x.loc[drawn, name].to_numpy()
    return z


@pytest.mark.slow
@pytest.mark.parametrize("release", ["classes", "permuted"])
@pytest.mark.parametrize("space", [Euclidean(), Gower()], ids=lambda space: space.key)
def test_linkage_is_that_of_all_pairs_in_one_block_and_in_many(
    spark: SparkSession, rng: np.random.Generator, rounds: Rounds, space: Space, release: str
) -> None:
    x = lattice(rng, 600, nominal=space.key == "gower")
    if release == "permuted":
        x["d"] = rng.permutation(600).astype(float)  # no two rows are equal
    z = classes_of(x) if release == "classes" else permuted_from(x, rng)
    assert z.duplicated().any() == (release == "classes")
    named = [spread_out(spark, one.assign(id=range(600)), 3) for one in (x, z)]
    pair = paired(*named, method={"space": space.key})
    expected = brute_force(x, z, pair.statistics, space)
    assert min(expected) > 2 / 600
    assert both_ways(linked(pair, space)) == pytest.approx(expected, abs=1e-12)
    assert (rounds.blocks, rounds.asked_twice) == ([1], [])
    assert both_ways(linked(pair, space, rows=60)) == pytest.approx(expected, abs=1e-12)
    assert rounds.blocks[1] >= 6
    assert rounds.asked_twice[0] > 50


@pytest.mark.slow
def test_linkage_measures_in_z_scores(spark: SparkSession, rng: np.random.Generator) -> None:
    x = pd.DataFrame(rng.normal(5, (1.0, 9.0, 100.0), (200, 3)), columns=["a", "b", "c"])
    z = x + rng.normal(0, 0.5, x.shape) * x.std().to_numpy()
    named = [spread_out(spark, one.assign(id=range(200))) for one in (x, z)]
    scaled, moved = (((one - x.mean()) / x.std()).to_numpy() for one in (x, z))
    distance = ((moved[:, np.newaxis] - scaled) ** 2).sum(axis=2)
    expected = credit(distance), credit(distance.T)
    assert 0.1 < expected[0] < 0.9
    assert both_ways(linked(paired(*named), Euclidean(), rows=40)) == pytest.approx(expected)


def test_nulls_of_the_original_alone_are_found_in_any_block(
    spark: SparkSession, rng: np.random.Generator
) -> None:
    """Under `impute` the statistics know of no nulls; the pair holds them all the same."""
    x = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    x.loc[rng.random(400) < 0.2, "a"] = None
    z = x.fillna(0.0) + rng.normal(0, 0.05, x.shape)
    named = [spread_out(spark, one.assign(id=range(400))) for one in (x, z)]
    pair = paired(*named, nulls="impute")
    expected = brute_force(x, z, pair.statistics, Euclidean())
    assert both_ways(linked(pair, Euclidean(), rows=60)) == pytest.approx(expected, abs=1e-12)


# 2. Targets are a sample, references are not


@contextmanager
def adaptive(spark: SparkSession, on: bool) -> Iterator[None]:
    name = "spark.sql.adaptive.enabled"
    before = spark.conf.get(name)
    spark.conf.set(name, str(on).lower())
    yield
    spark.conf.set(name, str(before))


@pytest.mark.slow
def test_targets_are_the_same_for_any_layout_and_their_interval_holds_the_truth(
    spark: SparkSession, rng: np.random.Generator
) -> None:
    x = lattice(rng, 600, nominal=False).assign(d=rng.permutation(600).astype(float))
    z = permuted_from(x, rng)
    reported = []
    for partitions, aqe in ((1, True), (2, False), (7, True), (7, False)):
        named = [spread_out(spark, one.assign(id=range(600)), partitions) for one in (x, z)]
        with adaptive(spark, aqe):
            reported.append(linked(paired(*named), Euclidean(), targets=200, rows=90))
    assert all(other == reported[0] for other in reported[1:])
    pair = paired(*named)
    truths = brute_force(x, z, pair.statistics, Euclidean())
    for truth, found in zip(truths, (reported[0][way, None] for way in BOTH_WAYS), strict=True):
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high
        assert found.low < truth < found.high
        assert 0.02 < found.high - found.low < 0.15  # of some 200 draws
        assert found.value != truth


@pytest.mark.slow
def test_every_record_can_be_found_by_the_targets(spark: SparkSession) -> None:
    x = pd.DataFrame({"a": np.arange(300.0), "id": range(300)})
    named = [spread_out(spark, one) for one in (x, x.assign(a=x["a"] + 0.25))]
    found = linked(paired(*named), Euclidean(), targets=60, rows=50)
    assert both_ways(found) == (1.0, 1.0)  # a third of the references would lack most of them
    both = [found[way, None] for way in BOTH_WAYS]
    assert [m.high for m in both] == [1.0, 1.0]
    assert all(0.9 < (m.low or 0) < 1 for m in both)


# 3. - 6. One pair, all measures


def pair_of_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Integers coarsened to steps of three; nulls kept, some cells suppressed, words joined."""
    rng, n = np.random.default_rng(7), 400
    a = rng.integers(1, 13, n)
    x = pd.DataFrame(
        {
            "id": np.arange(n),
            "a": a,
            "b": rng.integers(1, 11, n).astype(float),
            "e": a // 2 + rng.integers(1, 5, n),
            "word": rng.choice(["u", "v", "w", "x", "y", None], n),
            "salary": np.minimum(rng.geometric(0.3, n), 6) * 1000,
            "illness": rng.choice(["flu", "cold", "gout", None], n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )
    x.loc[rng.random(n) < 0.08, "b"] = None
    z = x.assign(a=x["a"] // 3 * 3 + 1, b=x["b"] // 5 * 5 + 2, e=x["e"] // 3 * 3 + 1)
    z.loc[rng.random(n) < 0.05, "b"] = None
    z["word"] = z["word"].where(z["word"].isin(["u", "v"]) | z["word"].isna(), "w")
    return x, z.sample(frac=1.0, random_state=3)


def policy_for(folder: Path, **changes: Any) -> dict[str, Any]:
    columns = {"id": "keep", "salary": "sensitive", "illness": "sensitive"}
    return KEPT_NULLS | {
        "columns": columns | dict.fromkeys(QUASI, "quasi_identifier"),
        "method": {"space": "gower"},
        "audit": {
            "measures": [{"name": name, "subsets": 2} for name in ("uniqueness", "separation")]
        },
        "runs": str(folder / "runs"),
    } | changes  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Original and release, both in the order of the key."""
    x, z = pair_of_tables()
    return x, z.sort_values("id").reset_index(drop=True)


@pytest.fixture(scope="module")
def done(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    x, z = (spread_out(spark, one) for one in pair_of_tables())
    return audited(x, z, policy_for(tmp_path_factory.mktemp("audit")))


@pytest.fixture(scope="module")
def measured(done: Audit) -> Found:
    assert not done.left_out
    return by_name(done.measures)


Tables = tuple[pd.DataFrame, pd.DataFrame]


def test_linkage_of_an_audit_is_that_of_all_pairs(tables: Tables, measured: Found) -> None:
    x, z = (one[QUASI] for one in tables)
    expected = brute_force(x, z, numpy_statistics(x), Gower())
    assert both_ways(measured) == pytest.approx(expected, abs=1e-12)
    assert measured["linkage_baseline", None].value == 1 / 400


def test_k_l_and_t_are_those_of_pycanon(tables: Tables, measured: Found) -> None:
    z = tables[1].assign(b=tables[1]["b"].astype(str)).fillna("null")
    assert measured["min_class_size", None].value == anonymity.k_anonymity(z, QUASI)
    sizes = z.groupby(QUASI)["id"].transform("size")
    assert measured["below_k", None].value == (sizes < 2).mean()
    for column in ("salary", "illness"):
        own = {name: measured[name, column].value for name in ATTRIBUTES}
        assert own["l_distinct"] == anonymity.l_diversity(z, QUASI, [column])
        t = anonymity.t_closeness(z, QUASI, [column])
        assert own["t_closeness"] == pytest.approx(t, abs=1e-9)
        alone = z.groupby(QUASI)[column].transform("nunique") == 1
        assert own["homogeneous"] == alone.mean() > 0


@pytest.mark.parametrize("partitions", [1, 7])
def test_classes_are_those_of_pycanon_and_pandas(spark: SparkSession, partitions: int) -> None:
    rng, names = np.random.default_rng(partitions), ["age", "sex"]
    data = pd.DataFrame({"age": rng.geometric(0.3, 900) * 10, "sex": rng.choice(["f", "m"], 900)})
    data = data[data.groupby(names)["age"].transform("size") > 3]
    found = size_buckets(spread_out(spark, data, partitions).groupBy(*names), 7)
    sizes = data.value_counts()
    assert found.smallest == anonymity.k_anonymity(data, names) == sizes.min() > 1
    assert (found.classes, found.records) == (len(sizes), sizes.sum())
    assert found.below_k == sizes[sizes < 7].sum() > 0


@pytest.mark.slow
def test_l_of_larger_classes_is_that_of_pycanon(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    columns = {"id": "keep", "salary": "sensitive", "word": "quasi_identifier"}
    take = {"take": ["l_distinct", "l_entropy", "t_closeness"]}
    policy = policy_for(tmp_path, columns=columns, audit=take, unlisted="drop")
    z = tables[1].fillna({"word": "null"})
    found = by_name(audited(spread_out(spark, tables[0]), spread_out(spark, z), policy).measures)
    for name, theirs in (
        ("l_distinct", anonymity.l_diversity),
        ("t_closeness", anonymity.t_closeness),
    ):
        assert found[name, None].value == pytest.approx(theirs(z, ["word"], ["salary"]), abs=1e-9)
    least = number(found, "l_entropy")
    shares = z.groupby("word")["salary"].value_counts(normalize=True)
    by_class = np.exp(-(shares * np.log(shares)).groupby("word").sum())
    assert least == pytest.approx(by_class.min(), abs=1e-9)
    assert anonymity.entropy_l_diversity(z, ["word"], ["salary"]) == math.floor(least) > 1


@pytest.mark.slow
def test_more_values_than_have_codes_are_joined_for_t_closeness_only(
    spark: SparkSession, tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, z = tables
    rng = np.random.default_rng(1)
    z = z.assign(salary=rng.integers(0, 60, 400), illness=rng.integers(0, 60, 400).astype(str))
    columns = dict.fromkeys(["salary", "illness"], "sensitive") | {"word": "quasi_identifier"}
    take = {"take": list(ATTRIBUTES)}
    policy = policy_for(tmp_path, columns=columns, audit=take, unlisted="drop")
    reported = []
    for most in (sensitive.MOST_VALUES, 12):
        monkeypatch.setattr(sensitive, "MOST_VALUES", most)
        done = audited(spread_out(spark, x), spread_out(spark, z), policy)
        reported.append(by_name(done.measures))
    exact, coarse = reported
    for column in ("salary", "illness"):
        for name in ("l_distinct", "l_entropy", "l_recursive", "homogeneous"):
            assert number(coarse, name, column) == number(exact, name, column)
    assert number(coarse, "t_closeness", "illness") >= number(exact, "t_closeness", "illness")
    t = number(exact, "t_closeness", "salary")
    assert number(coarse, "t_closeness", "salary") == pytest.approx(t, abs=1 / 11)  # one range


def test_loss_is_that_of_one_block(tables: Tables, measured: Found) -> None:
    x, z = (one[QUASI] for one in tables)
    known = numpy_statistics(x)
    original, released = block(x, z), block(z, x)
    given, none = Given(tuple(known), k=2), Known()
    within = WithinSd(IntervalSd().width)
    answers = Known(
        {
            SquaredErrors(): loss.merge([loss.local(original, released, known)]),
            PairedMoments(): moments.local(original, released, known),
            within: within.count(original, released, given, none),
        }
    )
    specs = (Il(), Sse(), Sst(), Il1s(), Mse(), IlMetrics(), IntervalSd(), EigenDifference())
    expected = [one for spec in specs for one in spec.finish(given, answers)]
    for one in expected:
        found = measured[one.measure, one.column]
        assert found.value == pytest.approx(one.value, rel=1e-9), (one.measure, one.column)
    assert {"il", "sse", "sst", "il1s", "mse", "il_metrics", "interval_sd"} <= {
        m.measure for m in expected
    }


def test_distances_are_those_of_the_papers(tables: Tables, measured: Found) -> None:
    x, z = (one[ORDERED] for one in tables)
    scaled = (x - z).abs() / x.std(ddof=0)
    il1s = scaled.sum() / math.sqrt(2)
    assert values(measured, "il1s") == pytest.approx({None: il1s.sum(), **il1s})
    assert measured["il1s_mean", None].value == pytest.approx(il1s.sum() / scaled.count().sum())
    mse = (scaled**2).mean()
    total = np.nanmean(scaled.to_numpy() ** 2)
    assert values(measured, "mse") == pytest.approx({None: total, **mse})
    within = (scaled <= 0.05) | (x.isna() & z.isna())
    shares = {None: within.all(axis=1).mean(), **within.mean()}
    assert values(measured, "interval_sd") == pytest.approx(shares)
    assert 0 < shares[None] < min(within.mean())


def population_covariance(data: pd.DataFrame) -> Floats:
    """pandas takes no notice of `ddof` where cells are missing."""
    held = data.notna().to_numpy().astype(float)
    pairs = held.T @ held
    return np.asarray(data.cov().to_numpy() * (pairs - 1) / pairs)


def test_correlations_and_il_metrics_are_those_of_pandas(tables: Tables, measured: Found) -> None:
    x, z = (one[ORDERED] for one in tables)
    r, r_released = x.corr().to_numpy(), z.corr().to_numpy()
    above = np.triu_indices(3, 1)
    error = np.abs(r - r_released)[above].mean()
    assert measured["correlation_error", None].value == pytest.approx(error)
    e, e_released = np.linalg.eigvalsh(r), np.linalg.eigvalsh(r_released)
    assert measured["eigen_difference", None].value == pytest.approx(
        (np.abs(e - e_released) / e).sum()
    )
    v, v_released = population_covariance(x), population_covariance(z)
    half = np.triu_indices(3)
    parts = [
        np.nanmean(((x - z).abs() / x.abs()).to_numpy()),
        ((x.mean() - z.mean()).abs() / x.mean().abs()).mean(),
        (np.abs(v - v_released) / np.abs(v))[half].mean(),
        (np.abs(v - v_released) / np.abs(v)).diagonal().mean(),
        error,
    ]
    assert measured["il_metrics", None].value == pytest.approx(100 * np.mean(parts))


def bits(cells: pd.DataFrame) -> float:
    shares = cells.value_counts(dropna=False, normalize=True)
    return float(-(shares * np.log2(shares)).sum())


def test_entropies_are_those_of_the_values_that_occur(tables: Tables, measured: Found) -> None:
    x, z = (one[QUASI] for one in tables)
    of = {name: bits(z[[name]]) for name in QUASI}
    assert values(measured, "entropy") == pytest.approx({None: sum(of.values()), **of})
    lost = dict.fromkeys(QUASI, 0.0)
    for one, other in combinations(QUASI, 2):
        shared = [bits(t[[one]]) + bits(t[[other]]) - bits(t[[one, other]]) for t in (x, z)]
        for name in (one, other):
            lost[name] += (shared[0] - shared[1]) / 3
    mean = sum(lost.values()) / 4
    assert values(measured, "mi_loss") == pytest.approx({None: mean, **lost}, abs=1e-12)


@pytest.mark.slow
def test_entropies_of_rich_columns_are_those_of_one_block(
    spark: SparkSession, rng: np.random.Generator, tmp_path: Path
) -> None:
    x = pd.DataFrame(rng.normal(size=(900, 2)), columns=["a", "b"])
    z = x.round(1)
    columns = {"id": "keep", "a": "quasi_identifier", "b": "quasi_identifier"}
    policy = policy_for(tmp_path, columns=columns, audit={"take": ["entropy", "mi_loss"]})
    named = [spread_out(spark, one.assign(id=range(900)), 3) for one in (x, z)]
    found = by_name(audited(named[0], named[1], policy).measures)
    bins, codes = [], []
    for name in ("a", "b"):
        grid = grids.grid_of(np.sort(np.concatenate([x[name], z[name]])))
        codes.append([grid.codes(t[name].to_numpy(), t[name].isna().to_numpy()) for t in (x, z)])
        counts = np.bincount(codes[-1][0], minlength=grid.bins)
        bins.append(entropy.ColumnBins(name, grids.coarse_ordered(counts)))
    before, after = (entropy.local([c[side] for c in codes], bins) for side in (0, 1))
    answers = Known({entropy.Bins(): (before, after, tuple(bins))})
    given = Given((), k=2)
    both = (entropy.Entropy(), entropy.MiLoss())
    for one in [one for spec in both for one in spec.finish(given, answers)]:
        assert found[one.measure, one.column].value == pytest.approx(one.value, abs=1e-12)


def test_subsets_are_those_of_groupby(tables: Tables, measured: Found) -> None:
    x, z = (one[QUASI] for one in tables)
    subsets = [s for size in (1, 2) for s in combinations(QUASI, size)]
    expected = {None: z, **{" + ".join(s): x[list(s)] for s in subsets}}
    assert values(measured, "uniqueness").keys() == expected.keys()
    for name, cells in expected.items():
        sizes = cells.value_counts(dropna=False).to_numpy()
        unique, apart = (sizes == 1).sum() / 400, 1 - (sizes * (sizes - 1)).sum() / (400 * 399)
        assert measured["uniqueness", name].value == pytest.approx(unique, abs=1e-15)
        assert measured["separation", name].value == pytest.approx(apart, abs=1e-15)
    assert number(measured, "uniqueness") > 0


@pytest.mark.slow
@pytest.mark.parametrize(("partitions", "aqe"), [(1, True), (7, False)])
def test_an_audit_does_not_depend_on_the_layout(
    spark: SparkSession, done: Audit, tmp_path: Path, partitions: int, aqe: bool
) -> None:
    x, z = (spread_out(spark, one, partitions) for one in pair_of_tables())
    with adaptive(spark, aqe):
        again = audited(x, z, policy_for(tmp_path))
    found = by_name(again.measures)
    for at, one in by_name(done.measures).items():
        assert found[at].value == pytest.approx(one.value, rel=1e-9, abs=1e-9), at
    assert len(found) == len(done.measures)
    deciles = [audit.report.parts["outlyingness"] for audit in (done, again)]
    for once, twice in zip(*deciles, strict=True):
        assert twice == pytest.approx(once)


# Audit and anonymize agree; with and without a pairing


@pytest.fixture(scope="module")
def own_release(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DataFrame, sparkanon.Release, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(11)
    x = pd.DataFrame(rng.lognormal(3, 0.5, (500, 3)), columns=["a", "b", "c"])
    x = x.assign(id=range(500), c=x["c"].round().astype(int))
    doubled = {"role": "quasi_identifier", "as": "double"}
    columns = {"id": "keep", "a": "quasi_identifier", "b": "quasi_identifier", "c": doubled}
    policy = {"columns": columns, "k": 5, "runs": str(folder / "runs")}
    original = spread_out(spark, x)
    return original, sparkanon.anonymize(original, policy), policy


Own = tuple[DataFrame, sparkanon.Release, dict[str, Any]]


@pytest.mark.slow
def test_audit_and_anonymize_find_the_same_loss(own_release: Own) -> None:
    original, release, policy = own_release
    assert release.data is not None
    done = audit(original, release.data, policy | {"audit": {"take": ["il"]}}, key="id")
    found = by_name(done.measures)
    for at, one in by_name(release.measures).items():
        assert found[at].value == pytest.approx(one.value, rel=1e-9), at
    assert number(found, "il") > 1


@pytest.mark.slow
def test_without_a_pairing_the_loss_of_centroids_is_the_same(own_release: Own) -> None:
    original, release, policy = own_release
    assert release.data is not None
    done = audit(original, release.data, policy | {"audit": {"take": ["il", "mse"]}})
    apart, own = (values(by_name(m), "il") for m in (done.measures, release.measures))
    assert apart == pytest.approx(own, rel=1e-6)
    assert "mse" in done.left_out


# What other tools hand in


@pytest.mark.slow
def test_nan_is_null_in_a_table_that_a_key_pairs(spark: SparkSession, tmp_path: Path) -> None:
    reported = []
    for missing in ("null", "double('NaN')"):
        cell = f"if(id % 5 = 0, {missing}, double(id % 7)) as a"
        x, z = (spark.range(60).selectExpr("id", one) for one in (cell, "double(id % 3) as a"))
        columns = {"id": "keep", "a": "quasi_identifier"}
        policy = policy_for(tmp_path, columns=columns, method={"space": "euclidean"})
        reported.append(audited(x, z, policy).measures)
    assert reported[0] == reported[1]
    assert all(m.value is not None and math.isfinite(m.value) for m in reported[1])


@pytest.mark.slow
@pytest.mark.parametrize("key", ["id", None])
def test_an_empty_release_is_refused(spark: SparkSession, tmp_path: Path, key: str | None) -> None:
    x = spark.range(60).selectExpr("id", "id % 7 as a")
    columns = {"id": "keep", "a": "quasi_identifier"}
    policy = policy_for(tmp_path, columns=columns, audit={"suppression": True})
    with pytest.raises(InputError, match="empty"):
        audit(x, x.limit(0), policy, key=key)


def test_an_unpublished_original_is_mistaken_for_others_and_never_found(
    spark: SparkSession, tmp_path: Path
) -> None:
    """By hand: the released 11 is nearer to the 11 that was suppressed than to its own 10."""
    x = spark.createDataFrame(
        [(1, 0.0), (2, 10.0), (3, 20.0), (4, 30.0), (5, 11.0)], "id int, a double"
    )
    z = spark.createDataFrame([(1, 0.0), (2, 11.0), (3, 20.0), (4, 30.0)], "id int, a double")
    rules = {
        "suppression": True,
        "take": ["linkage_masked_to_original", "linkage_original_to_masked"],
    }
    columns = {"id": "keep", "a": "quasi_identifier"}
    policy = policy_for(tmp_path, columns=columns, method={"space": "euclidean"}, audit=rules)
    assert both_ways(by_name(audited(x, z, policy).measures)) == (3 / 4, 4 / 5)


def test_a_sample_of_few_combinations_keeps_their_shares(spark: SparkSession) -> None:
    few = spark.range(4000).selectExpr("if(id % 4 = 0, null, id % 2) as a")
    drawn = sampling.sample(few, ["a"], 4000, wanted=100).column("c0").to_pylist()
    assert abs(drawn.count(None) - 25) <= 1
    assert abs(drawn.count(1) - 50) <= 1
    assert abs(drawn.count(0) - 25) <= 1
    distinct = sampling.sample(spark.range(4000), ["id"], 4000, wanted=400).column("c0")
    assert 320 < len(distinct) == len(set(distinct.to_pylist())) < 480


def test_the_pairing_of_another_release_is_noticed(spark: SparkSession) -> None:
    """Classes of even size, whose hashes cancel each other out."""
    one, other = (spark.range(40).selectExpr(f"id div {size} as z0") for size in (2, 4))
    check_same(one, one.repartition(3), ["z0"])
    with pytest.raises(InputError, match="another release"):
        check_same(one, other, ["z0"])

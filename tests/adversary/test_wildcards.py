"""An attacker takes a suppressed cell for any value, and a range or set for what it covers.

He has the release and a table of quasi-identifiers. For each released record he guesses among the
originals that every cell covers. Linkage is never below what he finds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import sparkanon
from sparkanon.attacks.needs import Links
from sparkanon.engine.audit import audit
from sparkanon.engine.audit.run import Audit, FailedAuditError
from sparkanon.engine.fit.facts import gather, with_key
from sparkanon.engine.linkage import linkage as linking
from sparkanon.engine.pairs.pairs import Sides
from sparkanon.engine.pairs.sides import compare, joined
from sparkanon.engine.pairs.tallies import records, sides_of
from sparkanon.engine.pipeline import RefusedError
from sparkanon.engine.sql.hidden import HiddenViews
from sparkanon.engine.table.columns import resolve
from sparkanon.needs import Known
from sparkanon.numeric.statistics import ColumnStatistics
from sparkanon.policy import make_policy
from sparkanon.spaces import FittedSpace, Space
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower
from sparkanon.spaces.needs import Moments

FORTH, BACK = "linkage_masked_to_original", "linkage_original_to_masked"
LEVELS = ["none", "some", "much", "most"]
TOWNS = ["Aachen", "Aalen", "Bonn", "Berlin", "Bern", "Ulm, old", "Ulm"]
DAY = date(2020, 2, 1)
EPOCH = (DAY - date(1970, 1, 1)).days  # what a day of the column's own numbers is more
INF = float("inf")


class Cell(NamedTuple):
    """A released text and what it covers: numbers from..to, or None for everything."""

    text: str | None
    covers: tuple[tuple[float, float], ...] | None


def wide(rng: np.random.Generator) -> Cell:
    return Cell(str(rng.choice(["*", "**"])), None) if rng.random() < 0.5 else Cell(None, None)


def number_cell(value: float, rng: np.random.Generator, whole: bool) -> Cell:
    """Numbers of steps of a half, of one if `whole`; ranges often end at values of others."""
    show: Callable[[float], str] = (lambda v: str(int(v))) if whole else str
    options = [
        Cell(show(value), ((value, value),)),
        Cell(f"[{show(value)}, {show(value + 1)}]", ((value, value + 1),)),
        Cell(
            f"[{show(value - 1)}-{show(value + 1)})",
            ((value - 1, float(np.nextafter(value + 1, -INF))),),
        ),
        Cell(
            f"({show(value - 1)}, {show(value)}]", ((float(np.nextafter(value - 1, INF)), value),)
        ),
        Cell(f">={show(value)}", ((value, INF),)),
        Cell(f"<{show(value + 1)}", ((-INF, float(np.nextafter(value + 1, -INF))),)),
        Cell(f"{{{show(value)}, {show(value + 3)}}}", ((value, value), (value + 3, value + 3))),
        Cell("1*", ((10, float(np.nextafter(20, 0))),)),  # often not even its own
    ]
    return options[rng.integers(0, len(options))]


def date_cell(value: float, rng: np.random.Generator) -> Cell:
    day = DAY + timedelta(days=int(value))
    first = (day.replace(day=1) - DAY).days
    last = ((day.replace(day=28) + timedelta(days=4)).replace(day=1) - DAY).days - 1
    later = day + timedelta(days=5)
    options = [
        Cell(str(day), ((value, value),)),
        Cell(f"{day:%Y-%m}-**", ((first, last),)),
        Cell(f"[{day}, {later}]", ((value, value + 5),)),
        Cell(f"[{day}, {later})", ((value, float(np.nextafter(value + 5, 0))),)),
        Cell(f"{{{day:%Y-%m}, {later}}}", ((first, last), (value + 5, value + 5))),
    ]
    return options[rng.integers(0, len(options))]


def level_cell(value: float, rng: np.random.Generator) -> Cell:
    at, other = int(value), int(rng.integers(0, 4))
    ends = tuple((float(v), float(v)) for v in {at, other})
    return Cell("{" + ",".join(LEVELS[v] for v in {at, other}) + "}", ends)


def town_cell(value: float, rng: np.random.Generator) -> Cell:
    town = TOWNS[int(value)]
    stem = town[: rng.integers(1, 4)]
    covered = [TOWNS.index(t) for t in TOWNS if t.startswith(stem)]
    two = [int(value), int(rng.integers(0, 5))]
    options = [
        Cell(town, ((value, value),)),
        Cell(stem + "*", tuple((float(v), float(v)) for v in covered)),
        Cell(
            "{" + ",".join(TOWNS[v] for v in two) + "}", tuple((float(v), float(v)) for v in two)
        ),
    ]
    if town == "Ulm, old":  # in a set it is also Ulm, if others are named so
        options[2] = Cell("{'Ulm, old'}", ((value, value),))
    return options[rng.integers(0, len(options))]


class Column(NamedTuple):
    values: np.ndarray[Any, Any]  # numbers, NaN for a null
    cells: list[Cell]
    originals: list[Any]
    nominal: bool = False


def tables(rng: np.random.Generator, n: int, nominal: bool) -> dict[str, Column]:
    drawn: dict[str, tuple[Any, Any, Any]] = {
        "num": (rng.integers(0, 40, n) / 2, number_cell, float),
        "int": (rng.integers(0, 25, n), number_cell, int),
        "day": (rng.integers(0, 80, n), date_cell, lambda v: DAY + timedelta(days=int(v))),
        "level": (rng.integers(0, 4, n), level_cell, lambda v: LEVELS[int(v)]),
    }
    if nominal:
        drawn["town"] = rng.integers(0, 7, n), town_cell, lambda v: TOWNS[int(v)]
    found = {}
    for name, (numbers, cell, show) in drawn.items():
        values = numbers.astype(float)
        values[rng.random(n) < 0.06] = np.nan
        cells = []
        for value in values:
            if np.isnan(value) or rng.random() < 0.25:
                cells.append(wide(rng))
            elif rng.random() < 0.05:  # the cell of somebody else
                other = float(rng.choice(values[~np.isnan(values)]))
                cells.append(cell(other, rng, *([name == "int"] if cell is number_cell else [])))
            else:
                cells.append(cell(value, rng, *([name == "int"] if cell is number_cell else [])))
        originals = [None if np.isnan(v) else show(v) for v in values]
        found[name] = Column(values, cells, originals, name == "town")
    return found


def gap(column: Column) -> Any:
    """(released, originals): to the nearest covered value; NaN for a null that is not covered."""
    x = column.values
    found = np.zeros((len(column.cells), len(x)))
    for i, cell in enumerate(column.cells):
        if cell.covers is not None:
            found[i] = np.min([np.maximum(np.maximum(a - x, x - b), 0) for a, b in cell.covers], 0)
    return found


def standing(columns: dict[str, Column]) -> dict[str, Column]:
    """Each town that is published for another one stands for that one, too."""
    if "town" not in columns:
        return columns
    town = columns["town"]
    also: dict[str | None, set[float]] = {text: set() for text in TOWNS}
    for cell, value in zip(town.cells, town.values, strict=True):
        if cell.text in also and not np.isnan(value):
            also[cell.text].add(float(value))
    cells = [
        cell._replace(covers=(*cell.covers, *((v, v) for v in also[cell.text])))
        if cell.covers is not None and cell.text in also
        else cell
        for cell in town.cells
    ]
    return columns | {"town": town._replace(cells=cells)}


def compatible(columns: dict[str, Column]) -> Any:
    return np.all([gap(column) == 0 for column in columns.values()], axis=0)


def guessed(compatible: Any) -> float:
    """Guess uniformly among the compatible ones."""
    number = np.maximum(compatible.sum(axis=1), 1)
    return float(np.mean(np.diagonal(compatible) / number))


def linked(distance: Any) -> float:
    nearest = distance <= distance.min(axis=1, keepdims=True) * (1 + 1e-12)
    return float(np.mean(np.diagonal(nearest) / nearest.sum(axis=1)))


def distances(
    columns: dict[str, Column], statistics: tuple[ColumnStatistics, ...], space: Space, nulls: bool
) -> Any:
    """All pairs; with `nulls` a released null says that the cell is null, stars hide it."""
    total = 0.0
    fitted = space.fit(Known({Moments(): statistics}))
    for message in statistics:
        column = columns[message.name]
        ruler = fitted.ruler(message.name, message.scale)
        is_null = np.isnan(column.values)
        hides = np.array(
            [c.covers is None and not (nulls and c.text is None) for c in column.cells]
        )
        says = np.array([nulls and c.text is None for c in column.cells])
        apart = gap(column)
        apart[:, is_null] = 0.0
        apart[says] = 0.0
        if ruler.null_at is not None:  # squares: a null stands at the mean
            mean = ruler.null_at - (EPOCH if message.name == "day" else 0)
            at = column._replace(values=np.where(is_null, mean, column.values))
            apart = gap(at)
            apart[says] = np.abs(at.values - mean)
        apart[hides] = 0.0
        differ = (says[:, None] != is_null[None, :]) & ~hides[:, None]
        for steps, factor in ((apart, ruler.factor), (differ * 1.0, ruler.null_step)):
            step = steps * factor
            step = step * step if np.isinf(ruler.cap) else np.minimum(step, ruler.cap)
            total = total + np.where(steps > 0, np.maximum(step, 1e-300), 0.0)
    return total


def spread(spark: SparkSession, data: pd.DataFrame, schema: str, partitions: int) -> DataFrame:
    rows = list(data.itertuples(index=False, name=None))
    return spark.createDataFrame(rows, schema).repartition(partitions)


def run(
    spark: SparkSession, columns: dict[str, Column], space: Space, partitions: int, block_rows: int
) -> tuple[tuple[float, float], tuple[ColumnStatistics, ...], Any]:
    kinds = {"num": "double", "int": "int", "day": "date", "level": "string", "town": "string"}
    n = len(next(iter(columns.values())).cells)
    x = pd.DataFrame(
        {"id": range(n)} | {k: pd.Series(c.originals, dtype=object) for k, c in columns.items()}
    )
    z = pd.DataFrame(
        {"id": range(n)}
        | {k: pd.Series([cell.text for cell in c.cells], dtype=object) for k, c in columns.items()}
    )
    original = spread(
        spark, x, ", ".join(["id int", *(f"{k} {kinds[k]}" for k in columns)]), partitions
    )
    released = spread(
        spark, z, ", ".join(["id int", *(f"{k} string" for k in columns)]), partitions
    )
    roles: dict[str, Any] = {"id": "keep", **dict.fromkeys(columns, "quasi_identifier")}
    roles["level"] = {"role": "quasi_identifier", "type": "ordinal", "order": LEVELS}
    policy = make_policy(
        {"columns": roles, "k": 2, "nulls": "own_category", "method": {"space": space.key}}
    )
    resolved = resolve(policy, original.schema)
    facts = gather(with_key(original, resolved), resolved, 2, policy.nulls, HiddenViews(spark))
    compared, published = compare(facts.quasi, (), released)
    sides = joined(compared, published, original, released, "id", suppression=False)
    assert sides.pair is not None
    links = linking.linkage(sides, sides.pair, facts.statistics, space, block_rows=block_rows)
    assert isinstance(links, Links)
    assert links.to_original is not None
    assert links.to_released is not None
    found = (links.to_original.value or 0.0, links.to_released.value or 0.0)
    fitted = space.fit(Known({Moments(): facts.statistics}))
    return found, facts.statistics, taken_for_values(sides, fitted)


def taken_for_values(sides: Sides, space: FittedSpace) -> Any:
    """All distances for an attacker who takes a range for its middle, a null for a null."""
    assert sides.pair is not None
    cells = sides.pair.selectExpr(*sides_of(sides.compared)).toArrow()
    x, z = records(sides.compared, (cells, "x"), (cells, "z"))
    here, there = space.points(x).values, space.points(z).values
    metric = space.points(x).metric
    total = 0.0
    for j in range(len(here)):
        gap = np.abs(there[j][:, np.newaxis] - here[j])
        total = total + (np.minimum(gap, metric.caps[j]) if metric.capped else gap * gap)
    return total


@pytest.mark.parametrize("space", [Euclidean(), Gower()], ids=lambda space: space.key)
@pytest.mark.parametrize(("partitions", "block_rows"), [(1, 10**6), (7, 60)])
def test_no_less_than_the_wildcard_attack_and_as_all_pairs_tell(
    spark: SparkSession, space: Space, partitions: int, block_rows: int
) -> None:
    rng = np.random.default_rng(partitions)
    columns = tables(rng, 240, nominal=space.key == "gower")
    found, statistics, values = run(spark, columns, space, partitions, block_rows)
    matches = compatible(columns)
    attack = guessed(matches), guessed(matches.T)
    assert min(attack) > 0.05
    assert found[0] >= attack[0] - 1e-12
    assert found[1] >= attack[1] - 1e-12
    all_pairs = [distances(columns, statistics, space, nulls) for nulls in (False, True)]
    all_pairs.append(distances(standing(columns), statistics, space, False))
    all_pairs.append(values)
    assert found[0] == pytest.approx(max(linked(d) for d in all_pairs), abs=1e-12)
    assert found[1] == pytest.approx(max(linked(d.T) for d in all_pairs), abs=1e-12)


def audited(
    spark: SparkSession,
    x: pd.DataFrame,
    z: pd.DataFrame,
    columns: dict[str, Any],
    folder: Path,
    **more: Any,
) -> Audit:
    """As a user does; the gate on k fails, what was measured is there all the same."""
    take = {"take": [FORTH, BACK]}
    policy: dict[str, Any] = {"columns": {"id": "keep"} | columns, "k": 3, "audit": take}
    policy |= {"nulls": "own_category", "runs": str(folder / "runs")} | more
    with pytest.raises(FailedAuditError) as failed:
        audit(spark.createDataFrame(x), spark.createDataFrame(z), policy, key="id")
    return failed.value.audit


def test_three_of_six_cells_nulled_hide_nobody(spark: SparkSession, tmp_path: Path) -> None:
    """The rest is exact, and who knows it finds everybody; suppression took 0.05 for an answer."""
    rng = np.random.default_rng(5)
    n, names = 150, list("abcdef")
    x = pd.DataFrame({name: rng.permutation(n).astype(float) for name in names})
    hides = rng.permuted(np.tile([True] * 3 + [False] * 3, (n, 1)), axis=1)
    z = x.mask(pd.DataFrame(hides, columns=names))
    everyone = [one.assign(id=range(n)) for one in (x, z)]
    done = audited(spark, *everyone, dict.fromkeys(names, "quasi_identifier"), tmp_path)
    found = {m.measure: m.value for m in done.measures}
    assert (found[FORTH], found[BACK]) == (1.0, 1.0)  # each value stands once in its column


EUROPE = {"Europe": ["Aachen", "Bern"], "Asia": ["Osaka", "Pune", "Seoul"]}


@pytest.mark.parametrize("message", [False, True])
def test_words_that_nobody_explains(spark: SparkSession, tmp_path: Path, message: bool) -> None:
    """With the taxonomy a word covers the values below it; else linkage is left out."""
    towns = ["Aachen", "Bern", "Osaka", "Pune", "Seoul", "Osaka"]
    x = pd.DataFrame({"id": range(6), "town": towns, "age": [30.0, 30, 30, 30, 40, 40]})
    z = x.assign(town=["Europe"] * 2 + ["Asia"] * 4)
    columns = {"town": "quasi_identifier", "age": "quasi_identifier"}
    release = {"name": "generalize", "taxonomies": {"town": EUROPE}}
    method: dict[str, Any] = {"space": "gower"} | ({"release": release} if message else {})
    gate = {f"max_{FORTH}": 1.0}
    done = audited(spark, x, z, columns, tmp_path, method=method, gates=gate)
    found = {m.measure: m.value for m in done.measures}
    (limit,) = (one for one in done.gates if one.gate == f"max_{FORTH}")
    if message:
        # Each word covers two of its age: Aachen and Bern, Osaka and Pune, Seoul and Osaka.
        assert (found[FORTH], found[BACK]) == (0.5, 0.5)
        assert limit.passed
    else:
        assert FORTH not in found
        assert "column town has 6 such cells" in done.left_out[FORTH]
        assert not any(word in done.left_out[FORTH] for word in ("Europe", "Asia", *towns))
        assert not limit.passed


def as_brute_force_does(
    spark: SparkSession,
    folder: Path,
    x: pd.DataFrame,
    z: pd.DataFrame,
    covers: Any,
    apart: Any = None,
    **more: Any,
) -> None:
    """Linkage is exactly what follows from covers[i, j]: can original j be behind released i?

    Or from `apart`, how far both are from one another where a null is a value like all others:
    an attacker is free to read the release so.
    """
    assert np.diagonal(covers).all()
    apart = np.zeros_like(covers, dtype=float) if apart is None else apart
    columns: dict[str, Any] = dict.fromkeys(x.columns.drop("id"), "quasi_identifier")
    done = audited(spark, x, z, columns, folder, method={"space": "gower"}, **more)
    found = {m.measure: m.value for m in done.measures}
    assert found[FORTH] == pytest.approx(max(guessed(covers), linked(apart)))
    assert found[BACK] == pytest.approx(max(guessed(covers.T), linked(apart.T)))


@pytest.mark.parametrize("all_stars", [False, True])
def test_as_many_stars_as_characters(spark: SparkSession, tmp_path: Path, all_stars: bool) -> None:
    """Postal codes of 3, 4 and 5 digits, of which two stay: the stars say how long they are."""
    rng = np.random.default_rng(3)
    ends = [(800, 899, 40), (8000, 8999, 45), (80000, 89999, 45)]
    codes = np.concatenate([rng.integers(*end) for end in ends]).astype(str)
    x = pd.DataFrame({"id": range(130), "code": codes, "age": rng.integers(20, 60, 130)})
    shown = np.where(all_stars & (rng.random(130) < 0.3), 0, 2)
    hidden = [c[:n] + "*" * (len(c) - n) for c, n in zip(codes, shown, strict=True)]
    covers = np.array(
        [[c.startswith(h.rstrip("*")) and len(c) == len(h) for c in codes] for h in hidden]
    )
    ages = x["age"].to_numpy()
    covers &= ages[:, None] == ages
    as_brute_force_does(spark, tmp_path, x, x.assign(code=hidden), covers)


def test_stars_that_do_not_keep_the_length_say_nothing_about_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    codes = ["812", "8123", "81234", "823", "8234", "82345"]
    x = pd.DataFrame({"id": range(6), "code": codes})
    hidden = ["81*", "81**", "81***", "82*", "82**", "82*"]  # the last one is short
    covers = np.array([[c[:2] == h[:2] for c in codes] for h in hidden])
    as_brute_force_does(spark, tmp_path, x, x.assign(code=hidden), covers)


@pytest.mark.parametrize("star", [False, True])
def test_nulls_that_are_nulls_in_one_column_and_hide_in_another(
    spark: SparkSession, tmp_path: Path, star: bool
) -> None:
    rng = np.random.default_rng(5)
    n = 260
    x = pd.DataFrame({"id": range(n)} | {c: rng.integers(0, 25, n).astype(str) for c in "ab"})
    x["a"] = x["a"].mask(rng.random(n) < 0.5)
    x["b"] = x["b"].mask(rng.random(n) < 0.02)
    z = x.assign(b=x["b"].mask(rng.random(n) < 0.85))
    if star:
        z.loc[0, "b"] = "*"
    a, hides = x["a"].fillna("none").to_numpy(), z["b"].isna() | (z["b"] == "*")
    covers = a[:, None] == a
    covers &= hides.to_numpy()[:, None] | (z["b"].to_numpy()[:, None] == x["b"].to_numpy())
    b, now = (one["b"].fillna("none").to_numpy() for one in (x, z))
    apart = (a[:, None] != a) + 1.0 * (now[:, None] != b)
    assert guessed(covers) > linked(apart), "who takes nulls for unknown links more forth"
    assert guessed(covers.T) < linked(apart.T), "and less back"
    everyone = (one.astype(object).where(one.notna(), None) for one in (x, z))
    as_brute_force_does(spark, tmp_path, *everyone, covers, apart)


def test_words_that_are_originals_and_stand_for_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Asia is somebody's country, and what Japan and China are published as."""
    rng = np.random.default_rng(6)
    n = 200
    town = np.array(["Other", "Asia", "Japan", "China", "Peru"])[rng.integers(0, 5, n)]
    x = pd.DataFrame({"id": range(n), "town": town, "floor": np.arange(n) // 4})
    wider = {"Japan": "Asia", "China": "Asia"}
    z = x.assign(town=[wider.get(t, t) for t in town])
    below = {"Asia": ["Asia", "Japan", "China"]}
    covers = np.array([[t in below.get(w, [w]) for t in town] for w in z["town"]])
    covers &= x["floor"].to_numpy()[:, None] == x["floor"].to_numpy()
    as_brute_force_does(spark, tmp_path, x, z, covers)


def coded(values: pd.Series, low: Any, high: Any) -> pd.Series:
    """Values beyond the limits become the limits; nulls stay."""
    values = values.mask(values < low, low) if low is not None else values
    return values.mask(values > high, high) if high is not None else values


def behind(x: pd.Series, low: Any, high: Any) -> Any:
    """[i, j]: whether original j may be behind the coded cell of record i."""
    same, null = coded(x, low, high).to_numpy(), x.isna().to_numpy()
    return (same[:, None] == same) | (null[:, None] & null)


@pytest.mark.parametrize("form", ["numbers", "text"])
def test_a_limit_stands_for_all_that_lies_beyond_it(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    """Top and bottom coding of another tool: 90 is 90 and more, not the one who is 90."""
    rng = np.random.default_rng(8)
    n = 240
    x = pd.DataFrame({"id": range(n), "age": rng.integers(0, 100, n).astype(float)})
    x["age"] = x["age"].mask(rng.random(n) < 0.1)
    x["pay"] = rng.exponential(10, n).round(1)
    x["days"] = rng.integers(0, 30, n)
    z = x.assign(age=coded(x["age"], 25, 80), pay=coded(x["pay"], None, 6.0))
    covers = behind(x["age"], 25, 80) & behind(x["pay"], None, 6.0)
    covers &= behind(x["days"], None, None)
    x, z = (one.astype(object).where(one.notna(), None) for one in (x, z))
    types = "id long, age double, pay double, days long"
    texts = types.replace("double", "string") if form == "text" else types
    if form == "text":
        z[["age", "pay"]] = z[["age", "pay"]].map(lambda cell: None if cell is None else str(cell))
    frames = (spark.createDataFrame(*one) for one in ((x, types), (z, texts)))
    columns = dict.fromkeys(("age", "pay", "days"), "quasi_identifier")
    policy = {"columns": {"id": "keep"} | columns, "k": 3, "audit": {"take": [FORTH, BACK]}}
    policy |= {"runs": str(tmp_path / "runs"), "method": {"space": "gower"}}
    with pytest.raises(FailedAuditError) as failed:
        audit(*frames, policy, key="id")
    found = {m.measure: m.value for m in failed.value.audit.measures}
    assert found[FORTH] == pytest.approx(guessed(covers))
    assert found[BACK] >= guessed(covers.T) - 1e-12


def test_a_gate_on_linkage_knows_what_the_own_limits_hide(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Taken for values, the limits linked 0.23 of such a table, and the attacker 0.55."""
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"a": rng.exponential(10, 300).round(2), "b": rng.integers(0, 100, 300)})
    rank = round(0.3 * len(x))
    covers = True
    for column in (np.sort(x["a"]), np.sort(x["b"])):
        name = "a" if column.dtype == float else "b"
        covers = covers & behind(x[name], column[rank - 1], column[-rank])
    policy = {
        "columns": dict.fromkeys("ab", "quasi_identifier"),
        "method": {"release": {"name": "top_bottom", "share": 0.3}},
        "gates": {f"max_{FORTH}": 0.4},
    }
    with pytest.raises(RefusedError) as refused:
        sparkanon.anonymize(spark.createDataFrame(x), policy)
    found = {m.measure: m.value for m in refused.value.release.measures}
    assert guessed(covers) > 0.5
    assert found[FORTH] == pytest.approx(guessed(covers))


def test_too_many_such_words_leave_linkage_out(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparkanon.engine.linkage.withheld.STANDINGS", 2)
    x = pd.DataFrame({"id": range(6), "town": list("abcdef")})
    done = audited(
        spark, x, x.assign(town=list("aaaaaf")), {"town": "quasi_identifier"}, tmp_path,
        method={"space": "gower"}, gates={f"max_{FORTH}": 1.0},
    )  # fmt: skip
    assert "may be categories above them, too many to try it: column town" in done.left_out[FORTH]
    assert not all(gate.passed for gate in done.gates if gate.gate == f"max_{FORTH}")

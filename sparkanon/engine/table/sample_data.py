"""Invented person microdata of any size, made by Spark itself.

Every value is a function of (row number, seed) through ``xxhash64``. There is no generator with a
state, so a row is the same for any number of partitions and for any number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice, product

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from sparkanon.errors import InputError, Problem

REFERENCE_DATE = date(2024, 12, 31)
"""The day on which everybody's age was asked; the last day of a year, so age = year - year."""

MAX_ROWS = 2**40
"""Beyond it ``person_id`` would repeat."""

ROWS_PER_PARTITION = 500_000
"""What a partition holds when the caller does not say how many there should be."""


@dataclass(frozen=True)
class SampleColumn:
    """One column of the sample table: its Spark type and the role it suits."""

    name: str
    type: str
    role: str
    text: str


COLUMNS: tuple[SampleColumn, ...] = (
    SampleColumn("person_id", "bigint", "identifier", "13 digits, unique, unrelated to row order"),
    SampleColumn("name", "string", "identifier", "first and last name of invented syllables"),
    SampleColumn("sex", "string", "quasi_identifier", "female, male, other (0.6 %)"),
    SampleColumn("birthday", "date", "quasi_identifier", "agrees with age on 2024-12-31"),
    SampleColumn("age", "int", "quasi_identifier", "18 to 95, flat until 60, then falling"),
    SampleColumn("municipality", "string", "quasi_identifier", "200 places, the largest 13 %"),
    SampleColumn("region", "string", "quasi_identifier", "9 regions, decided by municipality"),
    SampleColumn("education", "string", "quasi_identifier", "6 ordered levels, lower with age"),
    SampleColumn("years_of_schooling", "int", "quasi_identifier", "5 to 22, follows education"),
    SampleColumn("employed", "boolean", "target", "depends on age and schooling"),
    SampleColumn("hours_per_week", "int", "quasi_identifier", "0 without work, 40 for many"),
    SampleColumn("income", "double", "quasi_identifier", "a year's income, lognormal, some 0"),
    SampleColumn("wealth", "decimal(14,2)", "sensitive", "heavy tail, some debts, 4 % null"),
    SampleColumn("rent", "double", "quasi_identifier", "a month's rent, by income and place"),
    SampleColumn("household_size", "int", "quasi_identifier", "1 to 9, largest in midlife"),
    SampleColumn("commute_km", "double", "quasi_identifier", "exponential, 3 % null"),
    SampleColumn("height_cm", "double", "quasi_identifier", "normal, by sex and age"),
    SampleColumn("weight_kg", "double", "quasi_identifier", "body weight, follows height"),
    SampleColumn("blood_pressure", "double", "quasi_identifier", "systolic, by age and weight"),
    SampleColumn("last_visit", "timestamp", "quasi_identifier", "to the minute, recent if old"),
    SampleColumn("diagnosis", "string", "sensitive", "20 values, by age and weight"),
    SampleColumn("survey_weight", "double", "weight", "inverse inclusion rate of the stratum"),
)

_ONSETS = (
    "Ba",
    "Ce",
    "Do",
    "Fa",
    "Ge",
    "Hi",
    "Jo",
    "Ka",
    "Le",
    "Mi",
    "No",
    "Pe",
    "Ra",
    "Se",
    "Tu",
)
_MIDDLES = ("lan", "mer", "nov", "pil", "ras", "sten", "tov", "ved", "zan", "ric")
_FIRST_ENDS = ("a", "el", "is", "o")
_LAST_ENDS = ("ak", "berin", "dal", "esco", "fors", "gaard", "holt", "ini", "jev", "kamp", "lund")
_PLACE_ENDS = ("burgo", "quay", "stow")

FIRST_NAMES: tuple[str, ...] = tuple(
    "".join(parts) for parts in product(_ONSETS, _MIDDLES, _FIRST_ENDS)
)
LAST_NAMES: tuple[str, ...] = tuple(
    "".join(parts) for parts in product(_ONSETS, _MIDDLES, _LAST_ENDS)
)
MUNICIPALITIES: tuple[str, ...] = tuple(
    # The last syllable varies slowest, so that names with neighbouring ranks do not look alike.
    onset + middle + end
    for end, middle, onset in islice(product(_PLACE_ENDS, _MIDDLES, _ONSETS), 200)
)
REGIONS: tuple[str, ...] = (
    "Amarel",
    "Brovia",
    "Calden",
    "Dorsund",
    "Elvany",
    "Fenmark",
    "Galdor",
    "Hestria",
    "Ivorne",
)
SEXES: tuple[str, ...] = ("female", "male", "other")
_HEIGHTS = (165.5, 178.5, 171.5)

EDUCATION: tuple[str, ...] = (
    "primary",
    "lower secondary",
    "upper secondary",
    "bachelor",
    "master",
    "doctorate",
)
"""The levels of ``education``, lowest first."""

_EDUCATION_CUTS = (-1.405, -0.674, 0.332, 1.036, 1.881)  # normal quantiles of 8, 25, 63, 85, 97 %
_EDUCATION_YEARS = (6, 9, 12, 15, 17, 20)

CHRONIC: tuple[str, ...] = (
    "hypertension",
    "type 2 diabetes",
    "arthrosis",
    "coronary heart disease",
    "chronic back pain",
    "sleep apnoea",
    "cancer",
    "heart failure",
    "kidney disease",
)
OTHER_DIAGNOSES: tuple[str, ...] = (
    "respiratory infection",
    "allergy",
    "injury",
    "depression",
    "migraine",
    "asthma",
    "skin disease",
    "infection",
    "epilepsy",
    "hiv",
)


def people(
    spark: SparkSession, rows: int, seed: int = 1, partitions: int | None = None
) -> DataFrame:
    """A table of `rows` invented people with the columns of `COLUMNS`, none of them real.

    Parameters
    ----------
    spark
        The session that makes the table; nothing is computed until the table is used.
    rows
        Number of people, at most `MAX_ROWS`.
    seed
        Another seed makes other people. It is no secret, because nobody in the table is real.
    partitions
        Number of partitions; Spark's default when None. Values do not depend on it.

    Raises
    ------
    InputError
        If a parameter is out of range; all problems at once.
    """
    _check(rows, seed, partitions)
    parts = partitions or max(2, math.ceil(rows / ROWS_PER_PARTITION))
    df = spark.range(0, rows, 1, parts).withColumnRenamed("id", "_row")
    draw = _Draw(seed)
    for stage in _STAGES:
        for step in stage:
            df = df.withColumns(step(draw))
        # Spark compiles neighbouring projections to one method, and the JVM does not optimize a
        # method of more than 8,000 bytes, which makes it five times slower. A coalesce to the
        # number of partitions that the table already has moves no row, but ends that method.
        df = df.coalesce(parts)
    return df.select([column.name for column in COLUMNS])


def _check(rows: int, seed: int, partitions: int | None) -> None:
    problems = []
    if not 0 <= rows <= MAX_ROWS:
        problems.append(Problem("rows", f"must be from 0 to {MAX_ROWS}. Got {rows} instead."))
    if not -(2**63) <= seed < 2**63:
        problems.append(Problem("seed", "must fit into 64 bits."))
    if partitions is not None and partitions < 1:
        problems.append(Problem("partitions", f"must be at least 1. Got {partitions} instead."))
    if problems:
        raise InputError(problems)


# -- draws ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Draw:
    """Random numbers of a row: hashes of (seed, stream, row number)."""

    seed: int

    def bits(self, stream: int, value: Column | None = None) -> Column:
        value = F.col("_row") if value is None else value
        return F.xxhash64(F.lit(self.seed).cast("long"), F.lit(stream), value)

    def uniforms(self, stream: int) -> tuple[Column, Column]:
        """Two uniforms in the open interval (0, 1): neither end, so that logarithms are finite."""
        bits = self.bits(stream)
        high, low = F.shiftrightunsigned(bits, 32), bits.bitwiseAND(F.lit(0xFFFFFFFF))
        return (high + 0.5) * 2.0**-32, (low + 0.5) * 2.0**-32

    def normals(self, stream: int) -> tuple[Column, Column]:
        """Two independent standard normals (Box and Muller)."""
        u, v = self.uniforms(stream)
        radius, angle = F.sqrt(F.log(u) * -2.0), v * (2.0 * math.pi)
        return radius * F.cos(angle), radius * F.sin(angle)

    def permuted(self, stream: int) -> Column:
        """The row number through a bijection of 40-bit numbers, a Feistel network of 4 rounds."""
        mask = F.lit(2**20 - 1).cast("long")
        left = F.shiftrightunsigned(F.col("_row"), 20)
        right = F.col("_row").bitwiseAND(mask)
        for turn in range(4):
            mixed = self.bits(stream + turn, right).bitwiseAND(mask)
            left, right = right, left.bitwiseXOR(mixed)
        return left * 2**20 + right


def _pick(values: Sequence[str] | Sequence[float], index: Column) -> Column:
    return F.get(F.array(*(F.lit(value) for value in values)), index)


def _rank(u: Column, size: int) -> Column:
    """A rank from 1 to `size`, P(rank) = log(1 + 1/rank) / log(size + 1): close to Zipf's law."""
    return F.least(F.floor(F.exp(u * math.log(size + 1))), F.lit(size)).cast("int")


def _clip(value: Column, low: float, high: float) -> Column:
    return F.greatest(F.least(value, F.lit(high)), F.lit(low))


def _round(value: Column, per_unit: int) -> Column:
    # F.round goes through BigDecimal, which costs more than everything else in a column.
    return F.rint(value * per_unit) / per_unit


# -- columns, in the order in which they depend on one another -----------------------------------


def _identity(draw: _Draw) -> dict[str, Column]:
    bits = draw.bits(1)
    first = F.pmod(bits, F.lit(len(FIRST_NAMES)))
    last = F.pmod(F.shiftrightunsigned(bits, 24), F.lit(len(LAST_NAMES)))
    return {
        "person_id": draw.permuted(2) + 10**12,
        "name": F.concat(
            _pick(FIRST_NAMES, first.cast("int")), F.lit(" "), _pick(LAST_NAMES, last.cast("int"))
        ),
    }


def _demography(draw: _Draw) -> dict[str, Column]:
    born, sex = draw.uniforms(10)
    place, home = draw.uniforms(11)
    # Density flat from 18 to 60 (72 % of people), then a triangle down to 95.
    years = F.when(born < 0.72, born * (42 / 0.72)).otherwise(
        42 + 35 * (1 - F.sqrt((1 - born) * (1 / 0.28)))
    )
    youngest = REFERENCE_DATE.replace(year=REFERENCE_DATE.year - 18)
    return {
        "birthday": F.date_sub(F.lit(youngest), F.floor(years * 365.2425).cast("int")),
        "_sex": F.when(sex < 0.508, 0).when(sex < 0.994, 1).otherwise(2),
        "_place": _rank(place, len(MUNICIPALITIES)),
        "_home": F.log(home),
    }


def _age(_: _Draw) -> dict[str, Column]:
    return {"age": REFERENCE_DATE.year - F.year("birthday")}


def _body(draw: _Draw) -> dict[str, Column]:
    height, build = draw.normals(20)
    age, mean = F.col("age"), _pick(_HEIGHTS, F.col("_sex"))
    return {
        "height_cm": _round(mean + height * 6.7 - (age - 45) * 0.05, 10),
        "_bmi": F.exp(build * 0.155 + _clip(age, 18, 65) * 0.0025 + 3.11),
    }


def _health(draw: _Draw) -> dict[str, Column]:
    noise, _ = draw.normals(21)
    bmi, height = F.col("_bmi"), F.col("height_cm")
    pressure = F.col("age") * 0.38 + bmi * 0.9 + noise * 10 + 82.5
    return {
        "weight_kg": _round(bmi * height * height * 1e-4, 10),
        "blood_pressure": F.rint(_clip(pressure, 80, 230)),
    }


def _diagnosis(draw: _Draw) -> dict[str, Column]:
    chronic, ill = draw.uniforms(30)
    which, _ = draw.uniforms(31)
    odds = F.col("age") * 0.055 + F.col("_bmi") * 0.12 - 6.87
    return {
        "diagnosis": F.when(
            chronic * (F.exp(-odds) + 1) < 1, _pick(CHRONIC, _rank(which, len(CHRONIC)) - 1)
        )
        .when(ill < 0.45, _pick(OTHER_DIAGNOSES, _rank(which, len(OTHER_DIAGNOSES)) - 1))
        .otherwise("none")
    }


def _school(draw: _Draw) -> dict[str, Column]:
    ability, extra = draw.normals(40)
    age = F.col("age")
    latent = ability - (age - 47) * 0.012
    level = F.when(latent < _EDUCATION_CUTS[0], 0)
    for index, cut in enumerate(_EDUCATION_CUTS[1:], start=1):
        level = level.when(latent < cut, index)
    # Nobody has a degree before the usual age at which it is finished.
    highest = F.when(age < 21, 2).when(age < 24, 3).when(age < 27, 4).otherwise(5)
    return {
        "_level": F.least(level.otherwise(5), highest),
        "_extra": _clip(F.rint(extra), -1, 2).cast("int"),
    }


def _schooling(_: _Draw) -> dict[str, Column]:
    years = _pick(_EDUCATION_YEARS, F.col("_level")) + F.col("_extra")
    return {"years_of_schooling": F.least(years, F.col("age") - 5)}


def _work(draw: _Draw) -> dict[str, Column]:
    lot, _ = draw.uniforms(50)
    age, schooling = F.col("age"), F.col("years_of_schooling")
    chance = (
        F.when(age >= 75, 0.02)
        .when(age >= 65, 0.12)
        .when(age < 25, schooling * 0.02 + 0.3)
        .otherwise(schooling * 0.03 + 0.4)
    )
    # In midlife a household is about twice as large as before and after.
    more = F.col("_home") * F.when(age.between(28, 57), -1.9).otherwise(-0.9)
    return {
        "employed": lot < F.least(chance, F.lit(0.95)),
        "household_size": F.least(F.floor(more) + 1, F.lit(9)).cast("int"),
    }


def _hours(draw: _Draw) -> dict[str, Column]:
    full_time, _ = draw.uniforms(51)
    noise, _ = draw.normals(52)
    part_time = _clip(F.rint(noise * 11 + 33), 4, 80).cast("int")
    return {
        "hours_per_week": F.when(~F.col("employed"), 0)
        .when(full_time < 0.5, 40)
        .otherwise(part_time)
    }


def _income(draw: _Draw) -> dict[str, Column]:
    noise, _ = draw.normals(60)
    nothing, _ = draw.uniforms(61)
    school, career = F.col("years_of_schooling") - 12, F.col("age") - 18
    log_wage = (
        F.log(F.col("hours_per_week") / 40.0) * 0.6
        + school * 0.085
        + career * 0.045
        - career * career * 0.0006
        + noise * 0.45
        + 9.75
    )
    # log(0 hours) is null, but a row with 0 hours is not employed and takes the other branch.
    log_income = (
        F.when(F.col("employed"), log_wage)
        .when(F.col("age") >= 65, school * 0.05 + noise * 0.35 + 9.55)
        .when(nothing >= 0.45, noise * 0.4 + 8.9)
    )
    return {"income": F.coalesce(_round(F.exp(log_income), 100), F.lit(0.0))}


def _housing(draw: _Draw) -> dict[str, Column]:
    noise, fortune = draw.normals(70)
    log_rent = (
        F.log(F.col("income") + 12000) * 0.25
        - F.log("_place") * 0.1
        + F.col("household_size") * 0.05
        + noise * 0.22
        + 4.25
    )
    return {"rent": _round(F.exp(log_rent), 100), "_fortune": fortune}


def _wealth(draw: _Draw) -> dict[str, Column]:
    unknown, _ = draw.uniforms(71)
    log_assets = (
        F.log(F.col("income") + 5000) * 0.6 + F.col("age") * 0.035 + F.col("_fortune") * 1.2 + 3.45
    )
    cents = F.rint((F.least(F.exp(log_assets), F.lit(9e11)) - 6000) * 100).cast("long")
    exact = cents.cast("decimal(14,0)") * F.lit(Decimal("0.01"))
    return {"wealth": F.when(unknown >= 0.04, exact.cast("decimal(14,2)"))}


def _movement(draw: _Draw) -> dict[str, Column]:
    far, ago = draw.uniforms(80)
    unknown, _ = draw.uniforms(81)
    age = F.col("age")
    kilometres = F.log(far) * (F.log("_place") * -2.0 - 5)
    minutes = F.floor(F.log(ago) * (age * 2.0 - 260) * 1440)
    noon = (REFERENCE_DATE - date(1970, 1, 1)).days * 86400 + 43200
    return {
        "commute_km": F.when(unknown >= 0.03, _round(kilometres, 10)),
        "last_visit": F.timestamp_seconds(noon - minutes * 60),
        "survey_weight": (F.col("_place") % 3 * 20 + 60) * F.when(age < 30, 1.35).otherwise(1.0),
    }


def _labels(_: _Draw) -> dict[str, Column]:
    regions = [REGIONS[index % len(REGIONS)] for index in range(len(MUNICIPALITIES))]
    return {
        "sex": _pick(SEXES, F.col("_sex")),
        "municipality": _pick(MUNICIPALITIES, F.col("_place") - 1),
        "region": _pick(regions, F.col("_place") - 1),
        "education": _pick(EDUCATION, F.col("_level")),
    }


# Strings come last, so that a row is a few numbers until then.
_STAGES: tuple[tuple[Callable[[_Draw], dict[str, Column]], ...], ...] = (
    (_demography, _age, _body, _health, _school, _schooling),
    (_work, _hours, _income, _housing),
    (_wealth, _movement, _diagnosis, _identity, _labels),
)

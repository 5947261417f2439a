"""l and t against pycanon (Sáinz-Pardo & López 2022, doi 10.1038/s41597-022-01894-2).

Where its definition is another one, the test says so and checks what can be compared. k is counted
by Spark, so that test stands in tests/spark/test_audit_numbers.py.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity

from sparkanon.measures.diversity import Diversity, local


def table(seed: int, n: int = 240, m: int = 6) -> pd.DataFrame:
    """Two quasi-identifiers and a sensitive number of few values, unevenly spread."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(2, 6, n) * 10,
            "sex": rng.choice(["f", "m"], n),
            "salary": np.minimum(rng.geometric(0.3, n), m) * 1000,
        }
    )


def ours(data: pd.DataFrame, *, ordered: bool, c: float = 2.0) -> Diversity:
    cls = data.groupby(["age", "sex"]).ngroup().to_numpy()
    values, codes = np.unique(data["salary"].to_numpy(), return_inverse=True)
    counts = np.bincount(codes, minlength=len(values))
    return local(cls, codes, counts, ordered=ordered, c=c)


QI = ["age", "sex"]
SA = ["salary"]
SEEDS = range(8)


@pytest.mark.parametrize("n", [24, 60, 240])
@pytest.mark.parametrize("seed", SEEDS)
def test_distinct(seed: int, n: int) -> None:
    data = table(seed, n)
    assert anonymity.l_diversity(data, QI, SA) == ours(data, ordered=False).l_distinct


@pytest.mark.parametrize("n", [24, 60, 240])
@pytest.mark.parametrize("seed", SEEDS)
def test_entropy_is_cut_to_whole_numbers_there(seed: int, n: int) -> None:
    data = table(seed, n)
    found = ours(data, ordered=False).l_entropy
    if abs(found - round(found)) > 1e-6:  # at a whole number, int() may cut off 2.9999999999999996
        assert anonymity.entropy_l_diversity(data, QI, SA) == math.floor(found)
    else:
        assert anonymity.entropy_l_diversity(data, QI, SA) in (round(found) - 1, round(found))


@pytest.mark.parametrize("n", [24, 60, 240])
@pytest.mark.parametrize("seed", SEEDS)
def test_closeness_of_numbers_and_of_categories(seed: int, n: int) -> None:
    data = table(seed, n)
    numbers = anonymity.t_closeness(data, QI, SA)
    assert ours(data, ordered=True).t_closeness == pytest.approx(numbers, abs=1e-9)
    words = data.assign(salary=data["salary"].astype(str))
    categories = anonymity.t_closeness(words, QI, SA)
    assert ours(data, ordered=False).t_closeness == pytest.approx(categories, abs=1e-9)


def test_recursive_is_another_definition_there() -> None:
    # pycanon sorts the counts upwards, so its r_1 is the rarest value; in the paper r_1 is the
    # most frequent. Class with counts 6, 1: pycanon finds (c, l) = (1, 2), because 1 < 1 * 6.
    # By the paper's definition 6 < c * 1 takes c > 6.
    data = pd.DataFrame({"age": [30] * 7, "sex": ["f"] * 7, "salary": [1] * 6 + [2]})
    assert anonymity.recursive_c_l_diversity(data, QI, SA) == (1, 2)
    assert ours(data, ordered=False, c=1.0).l_recursive == 1
    assert ours(data, ordered=False, c=6.0).l_recursive == 1
    assert ours(data, ordered=False, c=6.1).l_recursive == 2

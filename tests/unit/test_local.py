"""Groups of an array, without Spark."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparkanon
from sparkanon.groupings import GROUPINGS, Mdav
from sparkanon.numeric.points import Points
from sparkanon.spaces.lda import Lda


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(300, 4)) * [1.0, 10.0, 0.1, 1e6] + 5.0


@pytest.mark.parametrize("key", GROUPINGS.keys())
def test_every_grouping_serves_an_array(values: np.ndarray, key: str) -> None:
    labels = sparkanon.group(values, 4, grouping=key)
    assert labels.shape == (300,)
    assert np.bincount(labels).min() >= 4
    assert (labels == sparkanon.group(values, 4, grouping=key)).all()


def test_columns_are_z_scored(values: np.ndarray) -> None:
    scores = ((values - values.mean(axis=0)) / values.std(axis=0)).T
    expected = Mdav().group(Points.euclidean(scores), 5, np.random.default_rng(0))
    assert (sparkanon.group(values, 5, grouping=Mdav()) == expected).all()


def test_the_mean_of_every_group_by_hand() -> None:
    values = [[1.0, 10.0], [2.0, 20.0], [101.0, 210.0], [104.0, 200.0], [100.0, 190.0]]
    found = sparkanon.microaggregate(values, 2, grouping="mdav", space="gower")
    near, far = [1.5, 15.0], [305.0 / 3, 200.0]
    assert found == pytest.approx(np.array([near, near, far, far, far]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("constant", [1.7e308, -1.6e307, 0.1])
def test_a_constant_is_no_spread_however_large_it_is(constant: float) -> None:
    others = np.arange(12.0)
    plain = sparkanon.group(np.column_stack([np.zeros(12), others]), 3)
    assert (sparkanon.group(np.column_stack([[constant] * 12, others]), 3) == plain).all()


def test_a_frame_has_names_that_weights_can_use() -> None:
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    by_a = {"name": "euclidean", "weights": {"b": 0.01}}
    by_b = {"name": "euclidean", "weights": {"a": 0.01}}
    assert list(sparkanon.group(frame, 2, space=by_a)) in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert list(sparkanon.group(frame, 2, space=by_b)) in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_blocks_where_there_are_more_records_than_a_grouping_serves() -> None:
    values = np.random.default_rng(2).normal(size=(5000, 2))
    ga = {"name": "ga", "population": 10, "generations": 5}
    labels = sparkanon.group(values, 3, grouping=ga)
    assert np.bincount(labels).min() >= 3
    assert (labels == sparkanon.group(values, 3, grouping=ga)).all()
    assert (labels != sparkanon.group(values, 3, grouping=ga, seed=1)).any()


@pytest.mark.parametrize("space", [{"name": "lda", "alpha": 16.0}, Lda(target="x", alpha=16.0)])
def test_classes_keep_groups_thin_across_them(space: Any) -> None:
    rng = np.random.default_rng(3)
    classes = np.repeat(["no", "yes"], 200)
    values = rng.normal(size=(400, 3))
    values[:, 1] += 1.5 * (classes == "yes")

    def mixed(labels: np.ndarray) -> int:
        sizes, yes = np.bincount(labels), np.bincount(labels, classes == "yes")
        return int(np.minimum(yes, sizes - yes).sum())

    guided = sparkanon.group(values, 10, grouping="mdav", space=space, classes=classes)
    assert mixed(guided) < mixed(sparkanon.group(values, 10, grouping="mdav"))


def test_alpha_is_searched_for_where_it_is_not_said() -> None:
    rng = np.random.default_rng(9)
    classes, values = rng.integers(0, 2, 900), rng.normal(size=(900, 10))
    values[:, 0] += 2.5 * classes  # six large groups would follow the noise of nine columns
    plain, guided = (
        sparkanon.group(values, 150, grouping="mdav", space=space, classes=known)
        for space, known in (("euclidean", None), ("lda", classes))
    )
    assert (plain != guided).any()


GOOD = np.arange(20.0).reshape(10, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 1}, "k: must be 2 to 10, the number of records. Got 1 instead"),
        ({"k": 11}, "k: must be 2 to 10"),
        ({"values": GOOD[0]}, "values: must be records x columns. Got 2 instead"),
        ({"values": np.empty((0, 2))}, "values: must be records x columns. Got 0 x 2 instead"),
        ({"values": [["a"], ["b"]]}, "values: must be numbers"),
        ({"values": GOOD * np.nan}, "values: 20 cells are NaN or infinite"),
        ({"values": pd.DataFrame(GOOD, columns=["a", "a"])}, "two columns have the same name"),
        ({"grouping": "mdaw"}, "unknown grouping 'mdaw'; did you mean mdav"),
        ({"grouping": 5}, "grouping: must be a name, or a mapping with 'name'"),
        ({"grouping": {"name": "refined", "passes": -1}}, "grouping.passes: must be greater"),
        ({"space": {"name": "euclidean", "weights": {"c": 1.0}}}, "weights.c: weights a column"),
        ({"space": {"name": "lda", "target": "c"}}, "classes: are needed by the space 'lda'"),
        ({"classes": GOOD[:, 0]}, "classes: are not used by the space 'euclidean'"),
        ({"space": "lda", "classes": [1, 2]}, "classes: must be one for each of the 10 records"),
        ({"space": "lda", "classes": [None, "a"] * 5}, "classes: 5 are missing"),
        ({"space": "lda", "classes": [1.0, np.nan] * 5}, "classes: 5 are missing"),
        ({"space": "lda", "classes": [1] * 10}, "has one class; there are no two to separate"),
    ],
)
def test_what_can_not_be_grouped_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(sparkanon.SparkanonError, match=re.escape(message)):
        sparkanon.group(**{"values": GOOD, "k": 2} | arguments)

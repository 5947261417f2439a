"""The guided space: directions against scikit-learn, distances against the paper's formula."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sparkanon.in_memory import ANSWERS, Table
from sparkanon.needs import Known, answered
from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.records import Column, Floats, Records, Scale
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.lda import FittedLda, Lda, projection
from sparkanon.spaces.needs import ClassMoments, Moments, MomentsByClass, SampleByClass
from sparkanon.spaces.stretch import ALPHAS, best_alpha, stretch


def records_of(x: Floats) -> Records:
    null = np.zeros(len(x), np.bool_)
    return tuple(Column(f"c{j}", Scale.NUMERIC, x[:, j], null) for j in range(x.shape[1]))


def known_of(space: Euclidean | Lda, x: Floats, codes: Any = (), k: int = 5) -> Known:
    return answered(space.needs(), ANSWERS, Table(records_of(x), k, np.asarray(codes)))


def scores_of(x: Floats) -> Floats:
    fitted = Euclidean().fit(known_of(Euclidean(), x))
    return np.stack([fitted.scores(column) for column in records_of(x)]).T


def classes_of(x: Floats, codes: Any) -> MomentsByClass:
    """By numpy, without our sums."""
    z = scores_of(x)
    means = np.array([z[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
    within = (z - means[codes]).T @ (z - means[codes]) / len(z)
    return MomentsByClass(np.bincount(codes).astype(float), means, within)


def test_moments_of_an_array_are_those_of_numpy_in_one_piece_or_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, codes = mixture(np.random.default_rng(3), 3, 4)
    space = Lda(target="y", alpha=4.0)
    found = known_of(space, x, codes)[ClassMoments("y")]
    expected = classes_of(x, codes)
    assert (found.counts == expected.counts).all()
    assert found.means == pytest.approx(expected.means, rel=0, abs=2**-20)
    assert found.within == pytest.approx(expected.within, rel=0, abs=2**-18)
    monkeypatch.setattr("sparkanon.spaces.needs.PIECE", 100)
    pieces = known_of(space, x, codes)[ClassMoments("y")]
    assert (pieces.means == found.means).all()
    assert (pieces.within == found.within).all()


def mixture(rng: np.random.Generator, classes: int, d: int, n: int = 900) -> tuple[Floats, Any]:
    codes = rng.integers(0, classes, n)
    turn = rng.normal(size=(d, d)) + 2 * np.eye(d)
    x = rng.normal(size=(n, d)) @ turn + rng.normal(size=(classes, d))[codes] * 3
    return x * np.logspace(-3, 3, d) + 50, codes


def fit(x: Floats, codes: Any, k: int = 5, **options: Any) -> FittedLda:
    space = Lda(target="y", **options)
    return space.fit(known_of(space, x, codes, k))


def squared(values: Floats) -> Floats:
    return ((values[:, :, None] - values[:, None, :]) ** 2).sum(axis=0)  # type: ignore[no-any-return]


def test_two_classes_by_hand() -> None:
    # within classes the columns have variances 1 and 4 and no covariance; the means are (+-3, +-4)
    # away: U is parallel to (3 / 1, 4 / 4) = (3, 1)
    classes = MomentsByClass(
        np.array([50.0, 50.0]), np.array([[-3.0, -4.0], [3.0, 4.0]]), np.diag([1.0, 4.0])
    )
    assert projection(classes, 0.0) == pytest.approx(np.array([[9, 3], [3, 1]]) / 10)
    # all weight on the diagonal of a covariance that has one: the columns count by themselves
    joint = replace(classes, within=np.array([[1.0, 1.9], [1.9, 4.0]]))
    assert projection(joint, 1.0) == pytest.approx(np.array([[9, 3], [3, 1]]) / 10)
    assert projection(joint, 0.0) != pytest.approx(np.array([[9, 3], [3, 1]]) / 10)


@pytest.mark.parametrize("seed", range(4))
def test_the_direction_is_that_of_scikit_learn(seed: int) -> None:
    x, codes = mixture(np.random.default_rng(seed), 2, 5)
    z = scores_of(x)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(z, codes).coef_[0]
    theirs /= np.linalg.norm(theirs)
    assert projection(classes_of(x, codes), 0.0) == pytest.approx(np.outer(theirs, theirs))


@pytest.mark.parametrize(("classes", "d"), [(3, 5), (4, 4), (6, 4)])
def test_many_classes_span_what_scikit_learn_finds(classes: int, d: int) -> None:
    x, codes = mixture(np.random.default_rng(classes), classes, d)
    z = scores_of(x)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(z, codes).scalings_
    span, _ = np.linalg.qr(theirs[:, : min(classes - 1, d)])
    assert projection(classes_of(x, codes), 0.0) == pytest.approx(span @ span.T, abs=1e-7)


@pytest.mark.parametrize("alpha", [1.0, 3.0, 64.0])
def test_distances_are_those_of_the_paper(alpha: float) -> None:
    x, codes = mixture(np.random.default_rng(5), 2, 4, n=60)
    z = scores_of(x)
    direction = np.linalg.solve(
        classes_of(x, codes).within, z[codes == 1].mean(axis=0) - z[codes == 0].mean(axis=0)
    )
    v, _ = np.linalg.qr(np.column_stack([direction, np.eye(4)]))
    paper = np.diag([alpha, 1, 1, 1]) @ v.T @ z.T  # S V'x
    ours = fit(x, codes, alpha=alpha).points(records_of(x)).values
    assert squared(ours) == pytest.approx(squared(paper), rel=1e-4)


def test_alpha_one_is_the_euclidean_space_to_the_bit() -> None:
    x, codes = mixture(np.random.default_rng(6), 3, 4)
    plain = Euclidean().fit(known_of(Euclidean(), x))
    guided = fit(x, codes, alpha=1)
    points = [space.points(records_of(x)) for space in (plain, guided)]
    assert (points[0].values == points[1].values).all()
    assert guided.units == plain.units
    labels = [mdav(*arrays(p), 3) for p in points]
    assert (labels[0] == labels[1]).all()
    wide = fit(x, codes, alpha=16).points(records_of(x))
    assert (mdav(*arrays(wide), 3) != labels[0]).any()


def test_columns_that_are_constant_copied_or_tell_the_class_alone() -> None:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 2, 400)
    signal = rng.normal(size=400) + 3 * codes
    noise = rng.normal(size=400)
    for extra in (np.full(400, 7.0), signal, 2 * signal - noise, codes.astype(float)):
        x = np.column_stack([signal, noise, extra])
        span = projection(classes_of(x, codes), 0.0)
        assert np.isfinite(span).all()
        assert np.trace(span) == pytest.approx(1)
        assert span @ span == pytest.approx(span)
        assert span[1, 1] < 0.2  # the noise says little
    alone = projection(classes_of(np.full((9, 2), 3.0), np.arange(9) % 2), 0.0)
    assert (alone == 0).all()


def test_the_rounding_of_sums_decides_nothing() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(3000, 4))
    twice, codes = np.concatenate([x, x]), np.repeat([0, 1], 3000)
    same = classes_of(twice, codes)
    noisy = replace(same, means=same.means + 1e-13 * rng.normal(size=same.means.shape))
    assert (projection(noisy, 0.0) == 0).all(), "classes with the same means have no direction"
    x, codes = mixture(rng, 2, 4)
    x[:, 3] = x[:, 2] * (1 + 0.01 * rng.normal(size=len(x)))  # nearly a copy: noise grows
    known = classes_of(x, codes)
    for _ in range(5):
        moved = replace(
            known,
            means=known.means * (1 + 1e-14 * rng.normal(size=known.means.shape)),
            within=known.within * (1 + 1e-14 * rng.normal()),
        )
        for alpha in (8.0, 1000.0):
            found = [stretch(projection(c, 0.0), alpha) for c in (known, moved)]
            assert (found[0] == found[1]).all()


def test_steps_are_longer_where_the_classes_differ() -> None:
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 2, 500)
    x = np.column_stack([rng.normal(size=500) + 4 * codes, rng.normal(size=500)])
    fitted = fit(x, codes, alpha=8)
    z_steps = [fitted.units[f"c{j}"] / x[:, j].std() for j in range(2)]
    assert z_steps[0] == pytest.approx(1 / 8, rel=0.02)
    assert z_steps[1] > 0.8
    assert fitted.summary == {"alpha": 8.0, "classes": 2}


def test_the_search_stretches_where_it_helps() -> None:
    rng = np.random.default_rng(9)
    codes, x = rng.integers(0, 2, 900), rng.normal(size=(900, 10))
    x[:, 0] += 2.5 * codes  # six large groups would be made by the noise of nine other columns
    found, again = (fit(x, codes, k=150) for _ in range(2))
    assert found.summary["alpha"] in ALPHAS[1:]
    assert again == found


def test_an_accident_of_the_folds_is_no_reason_to_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    # alpha 1 gets 60 of 100 right; alpha 8 gets `more` others and misses 4 of those: the standard
    # error of the difference is the root of more + 4
    def predicting(more: int) -> Any:
        def right(_: Any, matrix: Floats, sample: Any, k: int) -> Any:
            if matrix[0, 0] != 8.0:
                return np.arange(100) < 60
            return (np.arange(100) >= 4) & (np.arange(100) < 60 + more)

        return right

    plain = Euclidean().fit(Known({Moments(): ()}))
    sample = SampleByClass((), np.empty(0, np.int64))
    for more, alpha in ((4, 1.0), (7, 1.0), (8, 8.0), (20, 8.0)):  # 7 - 4 < 3.3, 8 - 4 > 3.4
        monkeypatch.setattr("sparkanon.spaces.stretch._right", predicting(more))
        assert best_alpha(plain, np.eye(1), sample, 3) == alpha

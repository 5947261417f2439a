"""Stretch z-scores along some directions, and find out how much by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sparkanon.numeric.arrays import arrays
from sparkanon.numeric.group.mdav import mdav
from sparkanon.numeric.records import Bools, Floats
from sparkanon.spaces.euclidean import FittedEuclidean
from sparkanon.spaces.needs import SampleByClass

Ints = npt.NDArray[np.int64]

ALPHAS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
FOLDS = 3
GRID = 6  # decimals of the projection, so that sums taken in another order do not change a release


def stretch(span: Floats, alpha: float) -> Floats:
    """I + (alpha - 1) P for a projection P: lengths within P count alpha times."""
    return np.eye(len(span)) + (alpha - 1.0) * np.round(span, GRID)


def product(matrix: Floats, scores: Sequence[Floats]) -> list[Floats]:
    """matrix @ scores, a coordinate at a time and in this order: the same bits on every CPU."""
    found = []
    for row in matrix:
        total = np.zeros(len(scores[0]))
        for factor, score in zip(row, scores, strict=True):
            if factor != 0.0:
                total += factor * score
        found.append(total)
    return found


def best_alpha(plain: FittedEuclidean, span: Floats, sample: SampleByClass, k: int) -> float:
    """The smallest of ALPHAS that is as accurate as the best by cross-validation, but for noise.

    The sample is cut into FOLDS. On each, the others are grouped (MDAV, as many groups as the
    whole sample has at k), a logistic regression learns the classes from the centroids and is
    asked about the records left out. An alpha counts as worse than the best if it gets fewer of
    them right by more than one standard error, the root of the number on which the two differ.
    Among those that are not worse the smallest is taken, because a larger alpha costs information.
    """
    right = {alpha: _right(plain, stretch(span, alpha), sample, k) for alpha in ALPHAS}
    best = max(ALPHAS, key=lambda alpha: (int(right[alpha].sum()), -alpha))
    for alpha in ALPHAS:
        differ = int((right[alpha] != right[best]).sum())
        if int(right[best].sum()) - int(right[alpha].sum()) <= np.sqrt(differ):
            return alpha
    return best


def _right(plain: FittedEuclidean, matrix: Floats, sample: SampleByClass, k: int) -> Bools:
    """For each record of the sample, whether a model of the other folds predicts its class."""
    n = len(sample.codes)
    k = max(2, round(k * (1 - 1 / FOLDS)))  # as many groups as all records would make
    right = np.zeros(n, np.bool_)
    scores = np.stack([plain.scores(column) for column in sample.records])
    for fold in range(FOLDS):
        asked = np.arange(n) % FOLDS == fold
        learned = np.flatnonzero(~asked)
        if len(learned) < k or not asked.any():
            continue
        records = tuple(column.rows(learned) for column in sample.records)
        points = plain.with_marks(records, product(matrix, list(scores[:, learned])))
        labels = mdav(*arrays(points), k)
        sizes = np.bincount(labels)
        centres = np.stack([np.bincount(labels, weights=s) / sizes for s in scores[:, learned]])
        predicted = _predicted(centres[:, labels].T, sample.codes[learned], scores[:, asked].T)
        right[asked] = predicted == sample.codes[asked]
    return right


def _predicted(learned: Floats, codes: Ints, asked: Floats) -> Ints:
    from sklearn.linear_model import LogisticRegression

    if (codes == codes[0]).all():
        return np.full(len(asked), codes[0])
    model = LogisticRegression(max_iter=200).fit(learned, codes)
    return np.asarray(model.predict(asked))

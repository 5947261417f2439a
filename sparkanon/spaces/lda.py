"""Euclidean distance, stretched along the directions that separate the classes of a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sparkanon.errors import Problem
from sparkanon.needs import Known, Need
from sparkanon.numeric.points import Points
from sparkanon.numeric.records import Floats, Records, Scale
from sparkanon.numeric.search.boxes import Ruler
from sparkanon.registry import one_of, spec
from sparkanon.spaces.euclidean import Euclidean, FittedEuclidean
from sparkanon.spaces.needs import (
    ClassColumn,
    ClassMoments,
    ClassSample,
    GroupSize,
    Moments,
    MomentsByClass,
)
from sparkanon.spaces.stretch import best_alpha, product, stretch

# Below this the smallest eigenvalue of the within-class correlations is taken for zero ...
SINGULAR = 1e-6
# ... and this share of the diagonal is mixed in, and no within-class variance is below FLOOR.
SHRINK = 1e-3
FLOOR = 1e-6
# Class means that differ by less than a hundred-thousandth of the spread within classes do not
# differ: what sums taken in another order leave must not become a direction.
EQUAL = 1e-10


@spec
class Lda:
    """z-scores, stretched by alpha along Fisher's discriminants: groups are thin across them.

    The directions U are the L - 1 leading generalized eigenvectors of the covariances between and
    within the L classes (for two classes solve(Sigma_W, mu_1 - mu_0)). The paper takes coordinates
    S V'x with V an orthonormal extension of U and S = diag(alpha, ..., 1, ...); here they are
    (I + (alpha - 1) UU')x = V S V'x, which have the same distances, do not depend on the choice
    of V, and at alpha = 1 are those of `euclidean` to the bit.

    Sigma_W that is singular is shrunk towards its diagonal; constant columns do not count. Nulls
    are as in `euclidean`: at the mean, with a mark beside. Records whose target is null belong to
    no class. Blocks are cut along columns, those that count most for the classes first.
    """

    key: ClassVar[str] = "lda"
    title: ClassVar[str] = "Euclidean distance guided by the classes of a target (numeric)"
    source: ClassVar[str] = "LDA section 3"
    scales: ClassVar[frozenset[Scale]] = frozenset({Scale.NUMERIC, Scale.ORDINAL})

    target: ClassColumn = Field(min_length=1, description="Column whose classes must stay apart.")
    alpha: Annotated[
        Annotated[float, Field(ge=1, le=1000)] | Literal["search"],
        one_of("a number from 1 to 1000, or search"),
    ] = Field(
        "search", description="How much the discriminants count, or the best of 1, 2, 4, ..., 64."
    )
    shrinkage: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="Share of the diagonal in the covariance within classes."
    )

    def problems(self, quasi: Sequence[str]) -> list[Problem]:
        return []

    def needs(self) -> tuple[Need[Any], ...]:
        fixed = Moments(), ClassMoments(self.target)
        if self.alpha != "search":
            return fixed
        return *fixed, ClassSample(self.target), GroupSize()

    def fit(self, known: Known) -> FittedLda:
        plain = Euclidean().fit(known)
        classes = known[ClassMoments(self.target)]
        span = projection(classes, self.shrinkage)
        if self.alpha == "search":
            alpha = best_alpha(plain, span, known[ClassSample(self.target)], known[GroupSize()])
        else:
            alpha = self.alpha
        names = tuple(s.name for s in known[Moments()])
        return FittedLda(plain, names, stretch(span, alpha), alpha, len(classes.counts))


@dataclass(frozen=True, eq=False)
class FittedLda:
    """z-scores by column, and the matrix (d, d) that stretches them."""

    plain: FittedEuclidean
    names: tuple[str, ...]
    matrix: Floats
    alpha: float
    classes: int

    def __post_init__(self) -> None:
        if self.matrix.shape != (len(self.names), len(self.names)):
            raise ValueError("the matrix must have a row and a column for each name")
        self.matrix.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FittedLda):
            return NotImplemented
        return np.array_equal(self.matrix, other.matrix) and all(
            getattr(self, name) == getattr(other, name)
            for name in ("plain", "names", "alpha", "classes")
        )

    __hash__ = None  # type: ignore[assignment]  # mappings and arrays have no hash

    @property
    def units(self) -> Mapping[str, float]:
        """A step of one column alone: its z-score times the length of its row of the matrix."""
        lengths = dict(zip(self.names, np.sqrt((self.matrix**2).sum(axis=1)), strict=True))
        return {name: unit / float(lengths[name]) for name, unit in self.plain.units.items()}

    @property
    def summary(self) -> Mapping[str, float]:
        return {"alpha": self.alpha, "classes": self.classes}

    def points(self, records: Records) -> Points:
        scores = [self.plain.scores(column) for column in records]
        return self.plain.with_marks(records, product(self.matrix, scores))

    def ruler(self, name: str, scale: Scale) -> Ruler:
        """A ruler of the z-score, because discriminants are directions across several columns."""
        return self.plain.ruler(name, scale)


def projection(classes: MomentsByClass, shrinkage: float) -> Floats:
    """(d, d) projection UU' onto the discriminants, which is 0 along constant columns."""
    d = len(classes.within)
    shares = classes.counts / classes.counts.sum()
    centred = classes.means - shares @ classes.means
    between = (centred.T * shares) @ centred
    counts = np.flatnonzero(np.diagonal(classes.within) + np.diagonal(between) > FLOOR)
    if len(counts) == 0:
        return np.zeros((d, d))
    inner = np.ix_(counts, counts)
    root = inverse_root(classes.within[inner], shrinkage)
    sizes, vectors = np.linalg.eigh(root @ between[inner] @ root)
    kept = sizes > max(float(sizes[-1]) * 1e-9, EQUAL)
    most = min(len(shares) - 1, int(kept.sum()))
    if most == 0:
        return np.zeros((d, d))
    span, _ = np.linalg.qr(root @ vectors[:, -most:])
    found = np.zeros((d, d))
    found[inner] = span @ span.T
    return found


def inverse_root(within: Floats, shrinkage: float) -> Floats:
    """The inverse square root of a covariance, which is shrunk where it is singular."""
    variances = np.maximum(np.diagonal(within), FLOOR)
    correlations = within / np.sqrt(np.outer(variances, variances))
    if shrinkage < SHRINK and np.linalg.eigvalsh(correlations)[0] < SINGULAR:
        shrinkage = SHRINK
    sizes, vectors = np.linalg.eigh((1 - shrinkage) * within + shrinkage * np.diag(variances))
    return np.asarray((vectors / np.sqrt(np.maximum(sizes, 1e-12))) @ vectors.T)

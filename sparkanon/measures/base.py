"""Named results: what every measure returns, in gates, tables, JSON and report alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """One number. `column` is None for the whole table; `low`/`high` are None where exact."""

    measure: str
    value: float | None
    column: str | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


CLASSES: Mapping[str, str] = {
    "k": "smallest number of records that share a published combination, or a group drawn from",
    "min_class_size": "the same as k",
    "below_k": "share of records in classes smaller than k",
}
LOSS: Mapping[str, str] = {
    "il": "information loss, 100 * SSE / SST on z-scored columns (SURVEY 2.2, formula 4)",
    "sse": "sum of squared differences between original and published z-scores",
    "sst": "sum of squared z-scores of the original",
}
DISTORTION: Mapping[str, str] = {
    "il1s": "sum over cells of |x - z| / (sqrt(2) s_j), s_j the original's sd (ROUND 3.3.1)",
    "il1s_mean": "il1s divided by the number of cells compared (ROUND 3.3.1)",
    "il_metrics": "100 * average of the mean variations of values, means, covariances and "
    "variances and the mean absolute error of correlations (ROUND 3.3.1)",
    "mse": "mean squared difference between original and published z-scores",
    "eigen_difference": "sum of |e - e'| / e over the eigenvalues of the two correlation "
    "matrices (as sdcMicro's dUtility)",
    "correlation_error": "mean absolute difference of the correlations of all pairs of ordered "
    "columns (ROUND 3.3.1)",
}
ENTROPY: Mapping[str, str] = {
    "entropy": "Shannon entropy of the released columns in bits, summed for the table (ROUND 4)",
    "mi_loss": "mean loss, in bits, of the columns' average mutual information (PKA 5.1)",
}
INTERVALS: Mapping[str, str] = {
    "interval_sd": "share of records all of whose original values lie within the published "
    "value +- p sd (ROUND 3.3.2)",
    "interval_rank": "the same with ranks of the original column; an upper bound (ROUND 3.3.2)",
}
SUBSETS: Mapping[str, str] = {
    "uniqueness": "share of records that are unique: in the release over all quasi-identifiers, "
    "in the original for each subset of them",
    "separation": "share of pairs of records that are told apart, as for uniqueness",
}
LINKAGE: Mapping[str, str] = {
    "linkage_masked_to_original": "share of released records whose nearest original is their "
    "own; ties share the credit (DDR, ROUND 3.3.2)",
    "linkage_original_to_masked": "share of originals whose nearest released record is their own",
    "linkage_baseline": "what guessing at random links: 1 / records",
}
ATTRIBUTES: Mapping[str, str] = {
    "l_distinct": "fewest distinct sensitive values in a class",
    "l_entropy": "least exp(entropy) of the sensitive values of a class",
    "l_recursive": "largest l for which every class is recursively (c, l)-diverse",
    "t_closeness": "largest earth mover's distance between a class and the whole table",
    "homogeneous": "share of records in classes with one sensitive value",
}
SCORE: Mapping[str, str] = {
    "il_dr_score": "weighted sum of il_metrics, il1s, linkage_masked_to_original and "
    "interval_sd (ROUND 3.3.3)",
}

# The measures a gate can name, with what they say; a gate is `min_` or `max_` and one of these.
CATALOGUE: Mapping[str, str] = {
    **LOSS, **DISTORTION, **ENTROPY, **CLASSES, **SUBSETS, **LINKAGE, **INTERVALS, **ATTRIBUTES,
    **SCORE,
}  # fmt: skip
# Counted while the release is made and verified: they cost nothing more.
STANDARD = frozenset([*CLASSES, *LOSS])
# What the score is made of has to be measured first.
SCORED = ("il_metrics", "il1s", "linkage_masked_to_original", "interval_sd")


def with_needed(names: Iterable[str]) -> frozenset[str]:
    """These measures and those that they are computed from."""
    wanted = frozenset(names)
    return wanted | frozenset(SCORED) if "il_dr_score" in wanted else wanted

"""The cheapest groups along a path: Hansen and Mukherjee 2003, for any distance of `Points`."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import apart
from sparkanon.numeric.jit import kernel
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats


@kernel
def optimal_path(values: Floats, metric: Metric, order: Ints, k: int) -> Ints:
    """Labels 0, 1, ... along the path `order` (n,) of the records of `values` (d, n), n >= k.

    No other partition of the path into stretches of k..2k-1 records costs less; of two that cost
    the same, the one with the shorter last stretch. The cost of a stretch is the sum over its
    pairs divided by its size, which for the squared Euclidean distance is the sum of squared
    errors: differences of records only, so data far from zero lose no digits. The sums of all
    stretches that end before a record are kept, so one more record costs O(k d). O(n k d).
    """
    d, n = values.shape
    rows = np.empty((n, d))
    for j in range(d):
        for at in range(n):
            rows[at, j] = values[j, order[at]]
    pairs = np.zeros(n)  # over the stretch from here to the record that is looked at
    least, begin = np.zeros(n + 1), np.zeros(n + 1, np.int32)
    for last in range(n):
        end, reached, found = last + 1, 0.0, False
        for first in range(last, max(last - 2 * k + 1, -1), -1):
            if first < last:
                reached += apart(rows, first, rows, last, metric)
                pairs[first] += reached
            size = end - first
            if size < k or 0 < first < k:  # no groups can be made of fewer than k before it
                continue
            total = least[first] + pairs[first] / size
            if not found or total < least[end]:
                found, least[end], begin[end] = True, total, first
    labels = np.zeros(n, np.int32)
    end, groups = n, 0
    while end > 0:
        for at in range(begin[end], end):
            labels[order[at]] = groups
        end, groups = int(begin[end]), groups + 1
    return (groups - 1 - labels).astype(np.int32)

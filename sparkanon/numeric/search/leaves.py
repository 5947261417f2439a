"""Split records in halves along their principal direction until the parts are small."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.distance import distances
from sparkanon.numeric.jit import kernel, tight
from sparkanon.numeric.metric import Metric
from sparkanon.numeric.records import Floats

SAMPLE = 128  # records of a part that decide its direction
STEPS = 4  # of the power iteration: any direction of large spread will do


@kernel
def start_vector(d: int, turn: int) -> Floats:
    """A fixed vector for every `turn`, in -1..1 from a multiplicative hash."""
    vector = np.empty(d)
    state = np.uint32(2654435769) * np.uint32(turn + 1)
    for j in range(d):
        state = np.uint32(state * np.uint32(1664525) + np.uint32(1013904223))
        vector[j] = np.float64(state >> np.uint32(8)) / 8388608.0 - 1.0
    return vector


@kernel
def principal(values: Floats, low: int, high: int, turn: int) -> Floats:
    """Principal direction of a strided sample of records low..high-1, by power iteration.

    A positive `turn` takes one step only, from its own start: another direction of large spread.
    No BLAS and a fixed order of sums: the same bits on every CPU. O(STEPS * SAMPLE * d).
    """
    d = values.shape[0]
    stride = max((high - low) // SAMPLE, 1)
    m = (high - low) // stride
    sample = np.empty((d, m))
    for j in range(d):
        total = 0.0
        for i in range(m):
            sample[j, i] = values[j, low + i * stride]
            total += sample[j, i]
        for i in range(m):
            sample[j, i] -= total / m
    vector, along = start_vector(d, turn), np.empty(m)
    for _ in range(STEPS if turn == 0 else 1):
        along[:] = 0.0
        for j in range(d):
            for i in range(m):
                along[i] += sample[j, i] * vector[j]
        largest = 0.0
        for j in range(d):
            even, odd = 0.0, 0.0
            for i in range(0, m - 1, 2):
                even += sample[j, i] * along[i]
                odd += sample[j, i + 1] * along[i + 1]
            vector[j] = even + odd
            largest = max(largest, abs(vector[j]))
        if largest == 0.0:
            return start_vector(d, turn)
        for j in range(d):
            vector[j] /= largest
    return vector


@kernel
def project(values: Floats, low: int, high: int, turn: int, keys: Floats) -> None:
    """Keys of records low..high-1 along their principal direction; O(count * d)."""
    vector = principal(values, low, high, turn)
    count = high - low
    for i in range(count):
        keys[i] = 0.0
    for j in range(values.shape[0]):
        row = values[j, low:high]
        for i in range(count):
            keys[i] += row[i] * vector[j]


@kernel
def lean(
    values: Floats, metric: Metric, low: int, high: int, turn: int, near: Floats, keys: Floats
) -> None:
    """Keys between two far apart records, d(x, a) - d(x, b): serves a distance without angles."""
    d, count = values.shape[0], high - low
    stride = max(count // SAMPLE, 1)
    point = np.empty(d)
    seed = low + (turn * 7919) % count
    for _ in range(2):
        for j in range(d):
            point[j] = values[j, seed]
        distances(values[:, low:high], metric, point, count, near)
        best = 0
        for i in range(0, count, stride):
            if near[i] > near[best]:
                best = i
        seed = low + best
    distances(values[:, low:high], metric, point, count, keys)
    for j in range(d):
        point[j] = values[j, seed]
    distances(values[:, low:high], metric, point, count, near)
    for i in range(count):
        keys[i] -= near[i]


@tight
def select(keys: Floats, order: Ints, rank: int) -> None:
    """Permute `keys` and `order` so that the `rank` smallest keys stand first; O(n) expected."""
    low, high = 0, len(keys) - 1
    while low < high:
        a, b, c = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            return


@kernel
def split(values: Floats, metric: Metric, size: int, unit: int, turn: int) -> tuple[Ints, Ints]:
    """Cut the records of `values` (d, n) in two until no part holds more than `size`.

    As few parts as possible, all of nearly the same number of records.

    `values` is reordered so that every part is contiguous. Cuts fall on multiples of `unit`.
    Returns the order (position -> record) and the bounds of the parts. O(n d log(n / size)).
    """
    d, n = values.shape
    order = np.arange(n).astype(np.int32)
    keys, near, local = np.empty(n), np.empty(n), np.empty(n, np.int32)
    moved = np.empty(n, np.int32)
    bounds = np.zeros(n // max(size // 2, 1) + 3, np.int32)
    stack = np.empty((64, 2), np.int64)
    stack[0] = 0, n
    depth, parts = 1, 0
    while depth > 0:
        depth -= 1
        low, high = stack[depth]
        count = high - low
        pieces = (count + size - 1) // size
        half = count * (pieces // 2) // max(pieces, 1) // unit * unit
        if count <= size or half == 0:
            parts += 1
            bounds[parts] = high
            continue
        if metric.capped:
            lean(values, metric, low, high, turn, near, keys)
        else:
            project(values, low, high, turn, keys)
        for i in range(count):
            local[i] = i
        select(keys[:count], local[:count], half)
        for i in range(count):
            moved[i] = order[low + local[i]]
        order[low:high] = moved[:count]
        for j in range(d):
            for i in range(count):
                keys[i] = values[j, low + local[i]]
            values[j, low:high] = keys[:count]
        stack[depth] = low + half, high
        stack[depth + 1] = low, low + half
        depth += 2
    return order, bounds[: parts + 1]

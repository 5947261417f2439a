"""Steps of a patch that change how many groups there are."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.jit import tight
from sparkanon.numeric.refine.patch import Patch, fall, move, rise


@tight
def end_group(
    patch: Patch, count: int, groups: int, k: int, g: int, log: Ints
) -> tuple[float, int]:
    """Spread the members of group `g`, each where it costs least; the change, and steps taken.

    The change is inf where there was no room. `log` (2k, 2) holds who came from where.
    """
    change, steps = -patch.pairs[g] / patch.size[g], 0
    while patch.size[g] > 0:
        i = patch.members[g, patch.size[g] - 1]
        best, least = -1, np.inf
        for b in range(groups):
            if b == g or patch.size[b] == 0 or patch.size[b] == 2 * k - 1:
                continue
            more = rise(patch, i, b)
            if more < least:
                best, least = b, more
        if best < 0:
            return np.inf, steps
        change += least
        log[steps, 0], log[steps, 1] = i, g
        steps += 1
        move(patch, count, i, best)
    return change, steps


@tight
def found_group(
    patch: Patch, count: int, groups: int, k: int, i: int, log: Ints
) -> tuple[float, int]:
    """A new group of k around record `i`, of those that cost least and that others can spare."""
    g = 0
    while patch.size[g] > 0:
        g += 1
    patch.pairs[g] = 0.0
    for o in range(count):
        patch.sums[g, o] = 0.0
    change, steps, chosen = 0.0, 0, i
    while steps < k:
        if steps > 0:
            chosen, least = -1, np.inf
            for o in range(count):
                if patch.group[o] == g or patch.size[patch.group[o]] <= k:
                    continue
                more = rise(patch, o, g) - fall(patch, o)
                if more < least:
                    chosen, least = o, more
        if chosen < 0 or patch.size[patch.group[chosen]] <= k:
            return np.inf, steps
        change += rise(patch, chosen, g) - fall(patch, chosen)
        log[steps, 0], log[steps, 1] = chosen, patch.group[chosen]
        steps += 1
        move(patch, count, chosen, g)
    return change, steps

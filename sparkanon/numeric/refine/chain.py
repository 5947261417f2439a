"""A path through the groups: what the cheapest groups along a path are looked for on."""

from __future__ import annotations

import numpy as np

from sparkanon.numeric.centre import Ints
from sparkanon.numeric.group.groups import Groups, e
from sparkanon.numeric.jit import kernel


@kernel
def tour(lists: Ints) -> Ints:
    """All groups, each followed by its nearest neighbour in `lists` that was not yet visited.

    Where all of them were, by the next group in number. O(groups wanted).
    """
    count = lists.shape[0]
    order, visited = np.empty(count, np.int32), np.zeros(count, np.bool_)
    here, fresh = 0, 0
    for at in range(count):
        order[at] = here
        visited[here] = True
        following = -1
        for b in lists[here]:
            if b >= 0 and not visited[b]:
                following = b
                break
        while following < 0 and fresh < count:
            if not visited[fresh]:
                following = fresh
            fresh += 1
        here = following
    return order


@kernel
def chain(groups: Groups, lists: Ints, record: Ints) -> Ints:
    """The records along a path on which every group is a stretch of neighbours.

    Within a group those first that lean to the group before rather than to the one behind. Every
    group must have members. O(n (d + k)), capped O(n k d).
    """
    rows, metric, members, size = groups.rows, groups.metric, groups.members, groups.size
    centre, within = groups.centre, groups.within
    order, at, names = np.empty(len(record), np.int32), 0, tour(lists)
    keys = np.empty(len(record))
    for g in range(len(names)):
        begin = at
        for m in range(size[names[g]]):
            i, key = members[names[g], m], 0.0
            if g > 0:
                key += e(rows, metric, members, size, centre, within, i, names[g - 1])
            if g + 1 < len(names):
                key -= e(rows, metric, members, size, centre, within, i, names[g + 1])
            place = at
            while place > begin and keys[place - 1] > key:
                keys[place], order[place] = keys[place - 1], order[place - 1]
                place -= 1
            keys[place], order[place] = key, record[i]
            at += 1
    return order

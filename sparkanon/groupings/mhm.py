"""MHM: order the records along a path, then cut it into the cheapest groups."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.md import md
from sparkanon.numeric.group.mdav import cbfs, mdav
from sparkanon.numeric.group.mhm import mhm, npn_mhm
from sparkanon.registry import spec

SOURCE = "SURVEY table 4; Domingo-Ferrer et al. 2006"


@spec
class MdavMhm(OneKernel):
    """A path through the groups of MDAV, cut into the cheapest groups: never worse than MDAV.

    The survey leaves the path open. It goes to the group with the nearest centre, and inside a
    group from the side of the group before to that of the group after. It starts at the group
    furthest from the centre or at the one furthest from that, whichever is cheaper in the end.
    """

    key: ClassVar[str] = "mdav_mhm"
    title: ClassVar[str] = "MDAV-MHM, the cheapest groups along the groups of MDAV"
    source: ClassVar[str] = SOURCE
    block_rows: ClassVar[int] = 65_536
    kernel = partial(mhm, mdav)


@spec
class MdMhm(OneKernel):
    """As `MdavMhm`, along the groups of MD."""

    key: ClassVar[str] = "md_mhm"
    title: ClassVar[str] = "MD-MHM, the cheapest groups along the groups of MD"
    source: ClassVar[str] = SOURCE
    block_rows: ClassVar[int] = 20_000
    kernel = partial(mhm, md)


@spec
class CbfsMhm(OneKernel):
    """As `MdavMhm`, along the groups of CBFS."""

    key: ClassVar[str] = "cbfs_mhm"
    title: ClassVar[str] = "CBFS-MHM, the cheapest groups along the groups of CBFS"
    source: ClassVar[str] = SOURCE
    block_rows: ClassVar[int] = 65_536
    kernel = partial(mhm, cbfs)


@spec
class NpnMhm(OneKernel):
    """A path from record to the nearest one that is left, cut into the cheapest groups.

    It starts at the record furthest from the centre or at the one furthest from that, whichever
    is cheaper in the end: such a path is at the mercy of its start.
    """

    key: ClassVar[str] = "npn_mhm"
    title: ClassVar[str] = "NPN-MHM, the cheapest groups along a path to the nearest point"
    source: ClassVar[str] = SOURCE
    block_rows: ClassVar[int] = 32_768
    kernel = npn_mhm

"""5 WHAT IS PUBLISHED: the values of a group. One file a release, one line here."""

from sparkanon.registry import Registry
from sparkanon.releases.base import (
    Asked,
    Cells,
    FittedRelease,
    Generalized,
    Grouped,
    NewValues,
    Published,
    Release,
    Replaced,
    TakenFrom,
)
from sparkanon.releases.centroid import Centroid
from sparkanon.releases.generalize import Generalize
from sparkanon.releases.hybrid import Hybrid
from sparkanon.releases.permute import Permute
from sparkanon.releases.top_bottom import TopBottom

RELEASES: Registry[Release] = Registry(
    "release", (Centroid, Permute, Hybrid, Generalize, TopBottom)
)

__all__ = [
    "RELEASES",
    "Asked",
    "Cells",
    "FittedRelease",
    "Generalized",
    "Grouped",
    "NewValues",
    "Published",
    "Release",
    "Replaced",
    "TakenFrom",
]

"""5 WHAT IS PUBLISHED: the values of a group. One file a release, one line here."""

from sparkanon.registry import Registry
from sparkanon.releases.base import (
    Asked,
    Generalized,
    NewValues,
    Published,
    Release,
    TakenFrom,
)
from sparkanon.releases.centroid import Centroid
from sparkanon.releases.generalize import Generalize
from sparkanon.releases.hybrid import Hybrid
from sparkanon.releases.permute import Permute

RELEASES: Registry[Release] = Registry("release", (Centroid, Permute, Hybrid, Generalize))

__all__ = ["RELEASES", "Asked", "Generalized", "NewValues", "Published", "Release", "TakenFrom"]

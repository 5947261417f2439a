"""2 HOW FAR: the distance between two records. One file a space, one line here."""

from sparkanon.registry import Registry
from sparkanon.spaces.base import FittedSpace, Space
from sparkanon.spaces.euclidean import Euclidean
from sparkanon.spaces.gower import Gower
from sparkanon.spaces.lda import Lda

SPACES: Registry[Space] = Registry("space", (Euclidean, Gower, Lda))

__all__ = ["SPACES", "FittedSpace", "Space"]

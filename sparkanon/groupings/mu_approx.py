"""mu-Approx: a forest of near neighbours, cut into small trees."""

from __future__ import annotations

from typing import ClassVar

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.mu_approx import mu_approx
from sparkanon.registry import spec


@spec
class MuApprox(OneKernel):
    """Every record joins its nearest, trees too small join the nearest tree, large ones are cut.

    The paper allows groups of 3k-5 records; we cut the heaviest edges wherever both sides keep k
    records, as M-d does, and split by MD what still has 2k records or more.
    """

    key: ClassVar[str] = "mu_approx"
    title: ClassVar[str] = "mu-Approx, a forest of near neighbours cut into small trees"
    source: ClassVar[str] = "SURVEY tables 5-7; Domingo-Ferrer, Sebe and Solanas 2008"
    block_rows: ClassVar[int] = 32_768
    kernel = mu_approx

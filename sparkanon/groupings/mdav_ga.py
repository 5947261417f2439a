"""The hybrid of MDAV and a genetic algorithm."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sparkanon.groupings.base import OneKernel
from sparkanon.groupings.ga import Crossover, Generations, Mutation, Population
from sparkanon.numeric.group.mdav_ga import mdav_ga
from sparkanon.numeric.points import Points
from sparkanon.registry import spec


@spec
class MdavGa(OneKernel):
    """Groups of MDAV, gathered by MDAV into macro-groups, and `Ga` in each of them.

    The groups of MDAV are one chromosome of the start, so the result is never worse.
    """

    key: ClassVar[str] = "mdav_ga"
    title: ClassVar[str] = "MDAV, then a genetic algorithm in macro-groups"
    source: ClassVar[str] = "SURVEY 3.1; Solanas 2008"
    block_rows: ClassVar[int] = 32_768
    random: ClassVar[bool] = True
    kernel = mdav_ga

    macro: Annotated[
        int, Field(ge=4, le=1_000, description="records of a macro-group; at least 2 k are taken")
    ] = 21
    population: Population = 30
    generations: Generations = 30
    mutation: Mutation = 0.1
    crossover: Crossover = 0.5

    def parameters(self, points: Points, rng: np.random.Generator) -> tuple[Any, ...]:
        bred = self.population, self.generations, self.mutation, self.crossover
        return self.macro, *bred, rng

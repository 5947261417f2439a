"""GA: a genetic algorithm."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sparkanon.groupings.base import OneKernel
from sparkanon.numeric.group.ga import LOOSE, ga
from sparkanon.numeric.points import Points
from sparkanon.registry import spec

Population = Annotated[int, Field(ge=2, le=10_000, description="chromosomes of a generation")]
Generations = Annotated[
    int, Field(ge=0, le=100_000, description="at most; it ends when 30 in a row bring nothing")
]
Mutation = Annotated[float, Field(ge=0, le=1, description="share of children that mutate")]
Crossover = Annotated[float, Field(ge=0, le=1, description="share of children of two parents")]


@spec
class Ga(OneKernel):
    """Chromosomes that name the group of every record, bred for a low cost; for small data.

    The start is groups around random records. A child takes a stretch of genes from its second
    parent; records stand in an order in which such a stretch is a region, and groups that it cuts
    are made anew. A mutation exchanges two records of neighbouring groups. Selection by roulette,
    fitness is the cost below that of the worst; the best chromosome lives on.
    """

    key: ClassVar[str] = "ga"
    title: ClassVar[str] = "genetic algorithm, for small data"
    source: ClassVar[str] = "SURVEY 3.1; Solanas 2008"
    block_rows: ClassVar[int] = 2_000
    random: ClassVar[bool] = True
    kernel = ga

    population: Population = 100
    generations: Generations = 200
    mutation: Mutation = 0.1
    crossover: Crossover = 0.5

    def parameters(self, points: Points, rng: np.random.Generator) -> tuple[Any, ...]:
        nobody = np.full(points.n, LOOSE, np.int32)
        return nobody, self.population, self.generations, self.mutation, self.crossover, rng

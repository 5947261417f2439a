"""6 WHAT IT COST: what was lost and what can still leak."""

from sparkanon.measures.base import CATALOGUE, Measure

__all__ = ["CATALOGUE", "Measure"]

"""6 WHAT IT COST: what was lost and what can still leak."""

from sparkanon.measures.base import CATALOGUE, STANDARD, Measure

__all__ = ["CATALOGUE", "STANDARD", "Measure"]

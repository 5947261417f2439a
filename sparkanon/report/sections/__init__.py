"""What a run shows besides its measures: one file a section, one line here."""

from sparkanon.registry import Registry
from sparkanon.report.sections.base import Section
from sparkanon.report.sections.class_sizes import ClassSizes
from sparkanon.report.sections.correlations import Correlations
from sparkanon.report.sections.distributions import Distributions
from sparkanon.report.sections.outlyingness import Outlyingness

SECTIONS: Registry[Section] = Registry(
    "section", (ClassSizes, Distributions, Correlations, Outlyingness)
)

__all__ = ["SECTIONS", "Section"]

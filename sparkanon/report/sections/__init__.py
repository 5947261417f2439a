"""What a run shows besides its measures: one file a section, one line here, in their order."""

from sparkanon.registry import Registry
from sparkanon.report.sections.attributes import Attributes
from sparkanon.report.sections.base import Section
from sparkanon.report.sections.class_sizes import ClassSizes
from sparkanon.report.sections.columns import Columns
from sparkanon.report.sections.correlations import Correlations
from sparkanon.report.sections.distributions import Distributions
from sparkanon.report.sections.linkage import Linkage
from sparkanon.report.sections.loss import Loss
from sparkanon.report.sections.sweep import Sweep

SECTIONS: Registry[Section] = Registry(
    "section",
    (Columns, ClassSizes, Linkage, Attributes, Loss, Distributions, Correlations, Sweep),
)

__all__ = ["SECTIONS", "Section"]

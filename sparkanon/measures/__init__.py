"""6 WHAT IT COST, WHAT CAN LEAK: one spec a measure, one line here."""

from sparkanon.measures.attributes import (
    Homogeneous,
    LDistinct,
    LEntropy,
    LRecursive,
    TCloseness,
)
from sparkanon.measures.base import FAMILIES, About, Measure, MeasureSpec
from sparkanon.measures.classes import BelowK, MinClassSize
from sparkanon.measures.correlation import MeanAbsoluteCorrelation
from sparkanon.measures.distortion import (
    CorrelationError,
    EigenDifference,
    Il1s,
    Il1sMean,
    IlMetrics,
    Mse,
)
from sparkanon.measures.entropy import Entropy, MiLoss
from sparkanon.measures.intervals import IntervalRank, IntervalSd
from sparkanon.measures.loss import Il, Sse, Sst
from sparkanon.measures.needs import Given
from sparkanon.measures.score import IlDrScore
from sparkanon.measures.ssb import Ssb
from sparkanon.measures.subsets import Separation, Uniqueness
from sparkanon.registry import Registry

MEASURES: Registry[MeasureSpec] = Registry(
    "measure",
    (
        MinClassSize,
        BelowK,
        Uniqueness,
        Separation,
        IntervalSd,
        IntervalRank,
        LDistinct,
        LEntropy,
        LRecursive,
        TCloseness,
        Homogeneous,
        Il,
        Sse,
        Sst,
        Ssb,
        Il1s,
        Il1sMean,
        IlMetrics,
        Mse,
        EigenDifference,
        CorrelationError,
        MeanAbsoluteCorrelation,
        Entropy,
        MiLoss,
        IlDrScore,
    ),
)

__all__ = ["FAMILIES", "MEASURES", "About", "Given", "Measure", "MeasureSpec"]

"""What each number means, in words for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Unit = Literal["percent", "share", "count", "number"]
Better = Literal["lower", "higher", "neither"]
Family = Literal["anonymity", "linkage", "attribute", "loss", "summary", "other"]

FAMILIES: Mapping[Family, str] = {
    "anonymity": "Hiding in a crowd",
    "linkage": "Finding a person again",
    "attribute": "Learning a secret",
    "loss": "What was lost",
    "summary": "Risk and loss in one number",
    "other": "Other measures",
}


@dataclass(frozen=True)
class Word:
    """One measure: how it is called, read, judged and computed."""

    title: str
    family: Family
    unit: Unit
    better: Better
    meaning: str
    conclude: str
    formula: str
    source: str
    of_records: bool = False  # a share that, times the rows, is a number of records

    @property
    def direction(self) -> str:
        if self.better == "neither":
            return "neither direction is better by itself"
        return f"{self.better} is better"


def word_for(measure: str) -> Word:
    """The entry of the glossary; a measure without one is still shown, under its own name."""
    known = GLOSSARY.get(_SAME.get(measure, measure))
    if known is not None:
        return known
    title = measure.replace("_", " ").strip().capitalize() or "Unnamed measure"
    text = "This report has no explanation of this measure yet."
    return Word(title, "other", "number", "neither", text, "Ask who computed it.", "", "")


_SAME = {"k": "min_class_size"}

_SURVEY = "Chettri, Paul, Dutta 2012, section 2.2"
_ROUND = "Senavirathne, Torra 2019, section 3.3"
_PKA = "Senavirathne, Torra 2021, section 5"

GLOSSARY: Mapping[str, Word] = {
    "min_class_size": Word(
        "Smallest class",
        "anonymity",
        "count",
        "higher",
        "The smallest number of records that share all published quasi-identifiers, or that a"
        " permuted record's values were drawn from.",
        "At k or above, nobody can be singled out by these columns with better odds than one in"
        " k. Below k, the release breaks its promise.",
        "min over classes of |class|",
        "Samarati, Sweeney 1998",
    ),
    "below_k": Word(
        "Records in classes below k",
        "anonymity",
        "share",
        "lower",
        "The share of records whose published quasi-identifiers are shared by fewer than k.",
        "It must be 0. Anything else names people who do not hide well enough.",
        "sum of |class| over classes with |class| < k, divided by records",
        "Samarati, Sweeney 1998",
        of_records=True,
    ),
    "identifiers": Word(
        "Identifiers in the release",
        "anonymity",
        "number",
        "lower",
        "The number of released columns that the policy calls identifiers, or that equal an"
        " original identifier under another name. The key of an audit does not count.",
        "It must be 0: a class of k people does not hide anybody whose name stands beside it.",
        "number of such columns",
        "sparkanon",
    ),
    "uniqueness": Word(
        "Uniqueness",
        "anonymity",
        "share",
        "lower",
        "The share of records whose values in these columns nobody else has.",
        "High uniqueness in the original says that these columns identify people and must be"
        " treated as quasi-identifiers; in a release it should be 0.",
        "records in classes of size 1 / n",
        "Motwani, Xu 2007",
        of_records=True,
    ),
    "separation": Word(
        "Separation",
        "anonymity",
        "share",
        "lower",
        "The share of pairs of records that these columns can tell apart.",
        "Near 100 % the columns work almost like a name. It falls slowly, because most pairs"
        " differ even in a well protected table: read it beside uniqueness.",
        "1 - sum of |class| (|class| - 1) / (n (n - 1))",
        "Motwani, Xu 2007",
    ),
    "linkage_masked_to_original": Word(
        "Linkage, release to original",
        "linkage",
        "share",
        "lower",
        "The share of released records whose nearest original record is the one they were made"
        " from.",
        "This is what an attacker who holds the whole original would get right. Compare it with"
        " the random guess: what matters is how much better than guessing it is.",
        "1/n * sum of [own original is nearest] / number of nearest",
        f"{_ROUND} (DDR)",
    ),
    "linkage_original_to_masked": Word(
        "Linkage, original to release",
        "linkage",
        "share",
        "lower",
        "The share of people whose nearest released record is their own.",
        "This is the attack on one known person: 'which of these records is she?' Records that"
        " are equal count as a draw, so k equal records give at most one in k.",
        "1/n * sum of [own record is nearest] / number of nearest",
        f"{_ROUND} (DDR, the other way round)",
    ),
    "linkage_baseline": Word(
        "Random guess",
        "linkage",
        "share",
        "neither",
        "What an attacker who guesses blindly gets right.",
        "The yardstick: a linkage risk close to it means that the release helps nobody to find a"
        " person.",
        "1 / n, or the measured success of an attack on shuffled records",
        "design, promise 7",
    ),
    "interval_sd": Word(
        "Interval disclosure (sd)",
        "linkage",
        "share",
        "lower",
        "The share of records all of whose original values lie in a narrow band around the"
        " published ones.",
        "High values say that published values are close to the true ones. That alone finds"
        " nobody, but who is found is then known well.",
        "share of records with |x - z| <= p * sd in every column; p = 0.05 unless said",
        f"{_ROUND} (IDR)",
    ),
    "interval_rank": Word(
        "Interval disclosure (rank)",
        "linkage",
        "share",
        "lower",
        "The same with a band counted in ranks: the original is among the p % next values.",
        "Read it instead of the one by standard deviation where columns are skewed, such as"
        " income.",
        "share of records with |rank x - rank z| <= p * n in every column",
        f"{_ROUND} (IDR, by rank)",
    ),
    "l_distinct": Word(
        "Distinct l-diversity",
        "attribute",
        "number",
        "higher",
        "The smallest number of different sensitive values in any class.",
        "At 1 there is a class where everybody has the same value: who is known to be in it is"
        " known to have it.",
        "min over classes of the number of distinct sensitive values",
        "Machanavajjhala et al. 2007",
    ),
    "l_entropy": Word(
        "Entropy l-diversity",
        "attribute",
        "number",
        "higher",
        "The same, but rare values count for less: as many equally frequent values as would be"
        " equally hard to guess.",
        "Close to the distinct l, values are well mixed; close to 1, one value dominates a class.",
        "min over classes of exp(-sum of p log p)",
        "Machanavajjhala et al. 2007",
    ),
    "l_recursive": Word(
        "Recursive (c, l)-diversity",
        "attribute",
        "number",
        "higher",
        "Whether the most frequent sensitive value of each class is balanced by the rarer ones.",
        "The higher it is, the less an attacker learns even after ruling some values out.",
        "largest l with r_1 < c * (r_l + ... + r_m) in every class, r sorted by frequency",
        "Machanavajjhala et al. 2007",
    ),
    "t_closeness": Word(
        "t-closeness",
        "attribute",
        "number",
        "lower",
        "How far the sensitive values of the most unusual class are from those of the table.",
        "At 0, knowing someone's class says nothing new about the sensitive value; at 1, it says"
        " everything.",
        "max over classes of the earth mover's distance to the table's distribution",
        "Li, Li, Venkatasubramanian 2007",
    ),
    "homogeneous": Word(
        "One-valued classes",
        "attribute",
        "share",
        "lower",
        "The share of records in classes where everybody has the same sensitive value.",
        "For these people k protects the name but not the secret: finding the class is enough.",
        "records in classes with one sensitive value / n",
        f"{_PKA}.2",
        of_records=True,
    ),
    "il": Word(
        "Information loss",
        "loss",
        "percent",
        "lower",
        "The share of the variance of the original that is gone: 0 % is a copy, 100 % is as if"
        " every value were replaced by its column's mean.",
        "Below about 10 % most analyses will hardly notice. Above 40 % trust totals and averages"
        " only. Permuted values can pass 100 %, because records are compared one by one.",
        "100 * SSE / SST on z-scored columns",
        f"{_SURVEY}, formula 4",
    ),
    "sse": Word(
        "Sum of squared errors",
        "loss",
        "number",
        "lower",
        "All squared differences between original and published values, in standard deviations.",
        "An intermediate result; read information loss instead, it does not grow with the table.",
        "sum of (x - z)^2 on z-scores",
        f"{_SURVEY}, formula 1",
    ),
    "sst": Word(
        "Total sum of squares",
        "loss",
        "number",
        "neither",
        "How much the original varies in all: what could be lost at most by averaging.",
        "An intermediate result, the 100 % of information loss.",
        "sum of squared z-scores of the original",
        f"{_SURVEY}, formula 3",
    ),
    "il1s": Word(
        "IL1s, sum",
        "loss",
        "number",
        "lower",
        "All distances between original and published values, in standard deviations.",
        "It grows with the table, so compare it only between releases of the same table.",
        "sum of |x - z| / (sqrt(2) * s)",
        f"{_ROUND}",
    ),
    "il1s_mean": Word(
        "IL1s, mean per cell",
        "loss",
        "number",
        "lower",
        "How far a published cell is from the original on average, in standard deviations (over"
        " the square root of 2).",
        "0.1 means that a typical value moved by about a seventh of a standard deviation.",
        "IL1s / (rows * columns)",
        f"{_ROUND}",
    ),
    "il_metrics": Word(
        "Change of statistics",
        "loss",
        "percent",
        "lower",
        "How much values, means, covariances, variances and correlations changed, averaged.",
        "It asks what an analyst asks: would my summary tables be the same?",
        "100 * mean of the mean variations of X, means, V and S, and the mean error of R",
        f"{_ROUND}; Domingo-Ferrer, Torra 2001",
    ),
    "mse": Word(
        "Mean squared error",
        "loss",
        "number",
        "lower",
        "The average squared difference between an original and a published value.",
        "Large single errors weigh most. In one column its square root is a typical error.",
        "mean of (x - z)^2",
        f"{_ROUND}",
    ),
    "eigen_difference": Word(
        "Difference of eigenvalues",
        "loss",
        "number",
        "lower",
        "How much the main directions in which the data vary grew or shrank.",
        "Near 0, factor analyses and regressions on several columns will look alike.",
        "distance between the eigenvalues of both covariance matrices",
        "Templ, Kowarik, Meindl 2015",
    ),
    "correlation_error": Word(
        "Error of correlations",
        "loss",
        "number",
        "lower",
        "By how much a correlation between two columns changed, on average.",
        "Up to 0.05 is hard to see in a plot. Look at the map of differences for the pairs that"
        " changed most.",
        "mean of |r original - r released| over pairs of columns",
        f"{_ROUND}",
    ),
    "entropy": Word(
        "Entropy",
        "loss",
        "number",
        "higher",
        "How much variety the published values still have.",
        "It falls as values are made equal. Compare it between releases of the same table, not"
        " between tables.",
        "-sum of p log p of the published values, per column and summed",
        f"{_ROUND}",
    ),
    "mi_loss": Word(
        "Loss of mutual information",
        "loss",
        "number",
        "lower",
        "How much less the columns tell about each other after release; works for text, too.",
        "Near 0 relations between columns are kept. Below 0 the release shows relations that the"
        " original has not.",
        "1/m * sum over columns of (mean MI original - mean MI released)",
        f"{_PKA}.1",
    ),
    "il_dr_score": Word(
        "Loss and risk score",
        "summary",
        "number",
        "lower",
        "Two losses and two risks with equal weight.",
        "Good for ranking releases of one table; it hides whether loss or risk made it high.",
        "0.25 * (ILmetrics + IL1s + DDR + IDR)",
        f"{_ROUND}",
    ),
}

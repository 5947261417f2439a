"""The audit's part of make bench: linkage, loss and class counts against plain Spark and peers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Figure = tuple[str, str, str]


def seconds_of(work: Callable[[], Any], repeats: int = 1) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def paired_release(spark: Any, policy: dict[str, Any], place: Path) -> dict[str, Any]:
    """The policy with a private pairing, after its release was made."""
    from sparkanon.engine.pipeline import anonymize

    paired = policy | {"private": {"path": str(place)}}
    anonymize(None, paired, spark=spark)
    return paired


def audit_seconds(spark: Any, policy: dict[str, Any], take: list[str]) -> dict[str, float]:
    """Seconds of every step of an audit that takes these measures."""
    from sparkanon.engine.audit import audit

    done = audit(None, None, policy | {"audit": {"take": take}}, spark=spark)
    return dict(done.report.seconds)


LINKS = ["linkage_masked_to_original", "linkage_original_to_masked"]
LOSSES = ["il", "sse", "sst", "il1s", "il1s_mean", "il_metrics", "mse", "eigen_difference",
          "correlation_error", "min_class_size", "below_k"]  # fmt: skip


def linkage_figures(
    spark: Any, policies: dict[int, dict[str, Any]], folder: Path, anonymize_seconds: float
) -> tuple[list[Figure], dict[str, Any]]:
    """Exact linkage of every table, the largest against the time of anonymize."""
    figures: list[Figure] = []
    kept: dict[str, Any] = {}
    for rows, policy in policies.items():
        paired = paired_release(spark, policy, folder / f"pairing-{rows}")
        found = min(audit_seconds(spark, paired, LINKS)["linkage"] for _ in range(4))
        kept[f"linkage_{rows}"] = found
        shown = f"{found:.1f} s"
        must = ""
        if rows == max(policies):
            must = "<= 3 x anonymize"
            shown += f" = {found / anonymize_seconds:.2f} x ({anonymize_seconds:.1f} s)"
        if rows == 2_000:
            must = "(sdcMicro: 34 s)"
        figures.append((f"exact linkage, both directions, {rows:,} rows", must, shown))
    return figures, kept


def loss_figure(
    spark: Any, policy: dict[str, Any], folder: Path, rows: int
) -> tuple[Figure, dict[str, Any]]:
    """Information loss and classes of a pair against reading and shuffling it."""
    place = folder / f"pairing-{rows}"
    paired = paired_release(spark, policy, place)
    pair = spark.read.parquet(str(place))
    parts = max(2, rows // 156_250)

    def shuffled() -> None:
        pair.repartition(parts).write.format("noop").mode("overwrite").save()

    plain, ours = 1e9, 1e9
    for _ in range(2):
        plain = min(plain, seconds_of(shuffled))
        steps = audit_seconds(spark, paired, LOSSES)
        ours = min(ours, steps["loss"] + steps["classes"])
    label = f"{rows:,} rows: information loss + classes of the pair / reading and shuffling it"
    shown = f"{ours / plain:.2f} ({ours:.1f} s / {plain:.1f} s)"
    return (label, "<= 1.5", shown), {"loss": ours, "shuffle": plain}


def k_figure(spark: Any, release: Path, quasi: tuple[str, ...]) -> tuple[Figure, dict[str, Any]]:
    """The k check against pycanon on the same table."""
    import pyarrow.parquet as pq
    from pycanon import anonymity

    from sparkanon.engine.verify.verify import size_buckets

    table = spark.read.parquet(str(release))
    ours = seconds_of(lambda: size_buckets(table.groupBy(*quasi), 5), 4)
    pandas = pq.read_table(release, columns=list(quasi)).to_pandas()
    theirs = seconds_of(lambda: anonymity.k_anonymity(pandas, list(quasi)))
    shown = f"{theirs / ours:.1f} ({theirs:.1f} s / {ours:.1f} s)"
    kept = {"pycanon": theirs, "ours": ours}
    return ("1,000,000 rows: k check, pycanon / ours, warm", ">= 5", shown), kept

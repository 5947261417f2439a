"""An invented run with every part a report can show, and with numbers that could be true."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

QUASI = ("age", "birthday", "sex", "region", "education", "years_of_schooling", "hours_per_week",
         "income", "household_size", "commute_km")  # fmt: skip
_LOSS = (3.2, 3.4, 1.1, 6.9, 5.2, 4.8, 7.1, 22.4, 7.5, 40.1)


def example_run(**changes: Any) -> dict[str, Any]:
    """A published release; `changes` replace parts, None takes one away."""
    run: dict[str, Any] = {
        "report_version": 1,
        "run_id": "20261116T063732-6af26648",
        "command": "anonymize",
        "created": "2026-11-16T06:37:32Z",
        "status": "published",
        "rows_in": 100_000,
        "rows_out": 99_412,
        "k": 5,
        "policy": _policy(),
        "gates": [
            {"gate": "min_k", "limit": 5, "value": 5, "passed": True},
            {"gate": "max_il", "limit": 60, "value": 8.21331, "passed": True},
            {
                "gate": "max_linkage_original_to_masked",
                "limit": 0.2,
                "value": 0.112,
                "passed": True,
            },
            {"gate": "max_t_closeness", "limit": 0.5, "value": 0.412, "passed": True},
        ],
        "measures": _measures(),
        "left_out": [
            {"measure": "mi_loss", "why": "income has more than 10,000 distinct values"},
            {"measure": "l_recursive", "why": "no c is set in the policy"},
        ],
        "class_sizes": _class_sizes(),
        "distributions": _distributions(),
        "correlations": _correlations(),
        "outlyingness": [
            {"decile": d, "records": 9941, "linkage": 0.06 + 0.0011 * d**2.2, "baseline": 0.0526}
            for d in range(1, 11)
        ],
        "linkage_by_class_size": [
            {"low": 5, "high": 5, "records": 61_200, "linkage": 0.121},
            {"low": 6, "high": 6, "records": 19_860, "linkage": 0.104},
            {"low": 7, "high": 7, "records": 11_020, "linkage": 0.093},
            {"low": 8, "high": 9, "records": 7_332, "linkage": 0.081},
        ],
        "sweep": _sweep(),
        "seconds": {"start": 6.8, "read": 2.7, "fit": 5.8, "mask": 4.5, "verify": 1.0},
        "versions": {
            "sparkanon": "0.2.0",
            "pyspark": "4.2.0",
            "numpy": "2.4.1",
            "python": "3.11.9",
        },
        "seed_commitment": "9f2c1e7ab0d4" * 5,
        "policy_hash": "41d0c88e5b7f" * 5,
    }
    return {key: part for key, part in (run | changes).items() if part is not None}


def _policy() -> dict[str, Any]:
    columns = {"person_id": {"role": "identifier"}, "name": {"role": "identifier"}}
    columns |= {column: {"role": "quasi_identifier"} for column in QUASI}
    columns["education"] |= {"type": "ordinal", "order": ["primary school", "doctorate"]}
    columns |= {"diagnosis": {"role": "sensitive"}, "wealth": {"role": "sensitive"}}
    return {
        "version": 1,
        "input": {"format": "parquet", "path": "/secret/place/people.parquet"},
        "columns": columns,
        "k": 5,
        "method": {
            "space": "gower",
            "grouping": {"name": "refined", "passes": 6},
            "release": {"name": "centroid"},
        },
        "nulls": "own_category",
        "seed": {"env": "SECRET_SEED_NAME"},
        "gates": {"min_k": 5, "max_il": 60},
    }


def _measures() -> list[dict[str, Any]]:
    table = {
        "il": 8.21331, "sse": 81_651.0, "sst": 994_120.0, "il1s": 152_400.0, "il1s_mean": 0.1533,
        "il_metrics": 6.42, "mse": 0.0821, "eigen_difference": 0.118, "correlation_error": 0.0213,
        "entropy": 41.7, "min_class_size": 5, "below_k": 0, "uniqueness": 0.0,
        "separation": 0.99995, "linkage_baseline": 0.00005, "il_dr_score": 5.81,
    }  # fmt: skip
    found = [_measure(name, value) for name, value in table.items()]
    found += [
        _measure("linkage_masked_to_original", 0.0812, low=0.0789, high=0.0835),
        _measure("linkage_original_to_masked", 0.112, low=0.1092, high=0.1148),
        _measure("interval_sd", 0.0042, low=0.0037, high=0.0048),
        _measure("interval_rank", 0.0061, low=0.0055, high=0.0068),
    ]
    for column, loss in zip(QUASI, _LOSS, strict=True):
        found += [
            _measure("il", loss, column),
            _measure("il1s_mean", 0.5 * math.sqrt(loss / 100), column),
            _measure("mse", loss / 100, column),
        ]
    for column, l_distinct, l_entropy, t, same in (
        ("diagnosis", 1, 1.0, 0.412, 0.0182),
        ("wealth", 4, 3.61, 0.287, 0.0),
    ):
        found += [
            _measure("l_distinct", l_distinct, column),
            _measure("l_entropy", l_entropy, column),
            _measure("t_closeness", t, column),
            _measure("homogeneous", same, column),
        ]
    return found


def _measure(
    measure: str, value: float, column: str | None = None, **limits: float
) -> dict[str, Any]:
    found = {"measure": measure, "column": column, "value": value, "low": None, "high": None}
    return found | limits


def _class_sizes() -> dict[str, Any]:
    sizes = {5: 12_240, 6: 3_310, 7: 1_574, 8: 611, 9: 271, 10: 1}
    cells = [
        {"low": size, "high": size, "classes": n, "records": n * size} for size, n in sizes.items()
    ]
    return {
        "classes": sum(sizes.values()),
        "records": sum(size * n for size, n in sizes.items()),
        "smallest": 5,
        "histogram": cells,
    }


def _bell(centre: float, width: float, edges: list[float]) -> list[float | None]:
    weights = [
        math.exp(-(((low + high) / 2 - centre) ** 2) / (2 * width**2))
        for low, high in pairwise(edges)
    ]
    return [weight / sum(weights) for weight in weights]


def _distributions() -> list[dict[str, Any]]:
    made = []
    for i, column in enumerate(QUASI):
        if column in ("sex", "region", "education"):
            size = {"sex": 2, "region": 9, "education": 6}[column]
            weights = [0.8**j for j in range(size)]
            before: list[float | None] = [w / sum(weights) for w in weights]
            after = [s * (1.04 if j % 2 else 0.97) for j, s in enumerate(before)]
            made.append({"column": column, "kind": "nominal", "unit": "category", "edges": [],
                         "original": before, "released": after})  # fmt: skip
            continue
        skew = column in ("income", "commute_km")
        edges = [-1.5 + 0.35 * j if skew else -3 + 0.4 * j for j in range(16)]
        before = _bell(-0.7 if skew else 0.0, 0.9, edges)
        after = _bell(-0.6 if skew else 0.0, 0.9 - 0.003 * _LOSS[i], edges)
        if skew:
            before[-2:] = after[-2:] = [None, None]
        made.append({"column": column, "kind": "numeric",
                     "unit": "standard deviations from the mean", "edges": edges,
                     "original": before, "released": after})  # fmt: skip
    return made


def _correlations() -> dict[str, Any]:
    columns = [c for c in QUASI if c not in ("sex", "region", "birthday")]

    def cell(i: int, j: int) -> float:
        return 1.0 if i == j else 0.75 * math.cos(1.7 * (i + j) + 0.3 * i * j)

    before = [
        [cell(min(i, j), max(i, j)) for j in range(len(columns))] for i in range(len(columns))
    ]
    after = [[v if v == 1.0 else v * 1.06 + 0.01 for v in row] for row in before]
    after[3][6] = after[6][3] = before[3][6] + 0.19
    return {"columns": columns, "original": before, "released": after}


def _sweep() -> dict[str, Any]:
    cells: list[dict[str, Any]] = []
    for grouping, better in (("mdav", 1.0), ("refined", 0.88), ("mondrian", 2.1)):
        for release, risk in (("centroid", 1.0), ("permute", 0.55)):
            for k in (3, 5, 10, 20, 50):
                il = better * 5.1 * math.log(k) * (1.9 if release == "permute" else 1.0)
                linkage = risk * 0.56 / k**0.9 / better**0.35
                cells.append({
                    "label": f"k = {k}, {grouping}, {release}", "k": k, "grouping": grouping,
                    "release": release, "space": "gower", "status": "ok",
                    "measures": {"il": il, "linkage_masked_to_original": linkage,
                                 "min_class_size": k, "correlation_error": il / 400},
                })  # fmt: skip
    for cell in cells:
        cell["pareto"] = not any(_dominates(other, cell) for other in cells)
    return {"x": "il", "y": "linkage_masked_to_original", "cells": cells}


def _dominates(one: dict[str, Any], other: dict[str, Any]) -> bool:
    axes = ("il", "linkage_masked_to_original")
    pairs = [(one["measures"][axis], other["measures"][axis]) for axis in axes]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

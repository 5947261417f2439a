"""Invented runs, in exactly the shape that the engine writes, with numbers that could be true.

tests/spark/test_report_shape.py holds them against what real runs write.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from sparkanon.measures.histograms import EDGES
from sparkanon.policy import make_policy

QUASI = ("age", "birthday", "sex", "region", "education", "years_of_schooling", "hours_per_week",
         "income", "household_size", "commute_km")  # fmt: skip
ORDERED = tuple(column for column in QUASI if column not in ("sex", "region"))
_LOSS = dict(zip(QUASI, (3.2, 3.4, 1.1, 6.9, 5.2, 4.8, 7.1, 22.4, 7.5, 40.1), strict=True))
LEVELS = ["primary", "lower secondary", "upper secondary", "bachelor", "master", "doctorate"]


def example_run(**changes: Any) -> dict[str, Any]:
    """`report.json` of a published release, with the map of a sweep, as `report --sweep` adds it.

    `changes` replace parts, None takes one away.
    """
    run: dict[str, Any] = _shared() | {
        "command": "anonymize",
        "status": "published",
        "promise": {
            "kind": "classes",
            "columns": list(QUASI),
            "k": 5,
            "rows": "same",
            "counted": "class",
            "text": "Every published combination of quasi-identifiers occurs at least 5 times.",
        },
        "sweep": _sweep(),
        "seconds": {"read": 2.7, "fit": 5.8, "cut": 0.9, "mask": 4.5, "verify": 1.0, "classes": 1,
                    "loss": 6.1, "subsets": 3.0, "attributes": 2.2, "linkage": 9.4,
                    "publish": 0.6},
    }  # fmt: skip
    return {key: part for key, part in (run | changes).items() if part is not None}


def example_audit(**changes: Any) -> dict[str, Any]:
    """`report.json` of an audit of the same release; `changes` as above."""
    run: dict[str, Any] = _shared() | {
        "command": "audit",
        "status": "ok",
        "columns": {
            "identifiers": [],
            "unlisted": ["postcode"],
            "copies": [{"column": "postcode", "of": "region", "how": "row by row"}],
        },
        "seconds": {"read": 2.7, "fit": 5.8, "pair": 0.4, "contents": 1.2, "classes": 1.0,
                    "loss": 6.1, "subsets": 3.0, "attributes": 2.2, "linkage": 9.4},
    }  # fmt: skip
    run["gates"].append(_gate("max_identifiers", 0.0, 0.0))
    return {key: part for key, part in (run | changes).items() if part is not None}


def _shared() -> dict[str, Any]:
    """What both commands write alike."""
    return {
        "report_version": 1,
        "run_id": "20261116T063732-6af26648",
        "created": "2026-11-16T06:37:32Z",
        "rows_in": 100_000,
        "rows_out": 99_412,
        "k": 5,
        "policy": _policy(),
        "policy_hash": "41d0c88e5b7f" * 5,
        "gates": [
            _gate("min_k", 5.0, 5.0),
            _gate("max_il", 60.0, 8.21331),
            _gate("max_linkage_original_to_masked", 0.2, 0.112, compared=0.1148),
            _gate("max_t_closeness", 0.5, 0.412),
        ],
        "measures": _measures(),
        "left_out": [
            {"measure": "column postcode", "why": "it is not in the release"},
            {"measure": "column phone", "why": "it is not in the release"},
        ],
        "class_sizes": _class_sizes(),
        "distributions": _distributions(),
        "correlations": _correlations(),
        "outlyingness": [
            {"decile": d, "records": 9941, "linkage": 0.06 + 0.0011 * d**2.2, "baseline": 0.0526}
            for d in range(1, 11)
        ],
        "versions": {
            "sparkanon": "0.2.0",
            "pyspark": "4.2.0",
            "delta-spark": "4.4.0",
            "numpy": "2.4.1",
            "numba": "0.62.1",
            "pyarrow": "22.0.0",
            "pydantic": "2.12.4",
            "spark": "4.2.0",
            "python": "3.11.9",
        },
    }


def _gate(gate: str, limit: float, value: float, compared: float | None = None) -> dict[str, Any]:
    held = value if compared is None else compared
    return {"gate": gate, "limit": limit, "value": value, "passed": True, "compared": held}


def _policy() -> dict[str, Any]:
    """As a run writes it: with every default."""
    columns: dict[str, Any] = {"person_id": "identifier", "name": "identifier"}
    columns |= dict.fromkeys(QUASI, "quasi_identifier")
    columns["education"] = {"role": "quasi_identifier", "type": "ordinal", "order": LEVELS}
    columns |= {"diagnosis": "sensitive", "wealth": "sensitive"}
    given = {
        "version": 1,
        "input": {"format": "parquet", "path": "/secret/place/people.parquet"},
        "columns": columns,
        "unlisted": "drop",
        "k": 5,
        "method": {"space": "gower", "grouping": "refined", "release": "centroid"},
        "nulls": "own_category",
        "seed": {"env": "SECRET_SEED_NAME"},
        "gates": {"max_il": 60, "max_linkage_original_to_masked": 0.2, "max_t_closeness": 0.5},
        "audit": {"take": "all", "targets": 20_000},
    }
    return make_policy(given).to_dict()


def _measures() -> list[dict[str, Any]]:
    table = {
        "min_class_size": 5.0, "below_k": 0.0, "il": 8.21331, "sse": 81_651.0, "sst": 994_120.0,
        "ssb": 912_469.0, "mean_absolute_correlation": 0.31,
        "il1s": 152_400.0, "il1s_mean": 0.1533, "mse": 0.0821, "il_metrics": 6.42,
        "eigen_difference": 0.118, "correlation_error": 0.0213, "interval_sd": 0.0042,
        "interval_rank": 0.0061, "entropy": 41.7, "mi_loss": 0.082, "uniqueness": 0.0,
        "separation": 0.99995, "linkage_baseline": 0.00005, "l_distinct": 1.0, "l_entropy": 1.0,
        "l_recursive": 1.0, "t_closeness": 0.412, "homogeneous": 0.0182,
    }  # fmt: skip
    found = [_measure(name, value) for name, value in table.items()]
    found += [
        _measure("linkage_masked_to_original", 0.0812, low=0.0789, high=0.0835),
        _measure("linkage_original_to_masked", 0.112, low=0.1092, high=0.1148),
        _measure("il_dr_score", 5.81, low=5.79, high=5.83),
    ]
    for column, loss in _LOSS.items():
        found += [_measure("il", loss, column), _measure("sse", 994.12 * loss, column)]
        found += [_measure("sst", 99_412.0, column), _measure("entropy", 4.2, column)]
        found += [_measure("mi_loss", loss / 90, column)]
        if column in ORDERED:
            found += [
                _measure("ssb", 99_412.0 - 994.12 * loss, column),
                _measure("il1s", 49_706 * math.sqrt(loss / 100), column),
                _measure("il1s_mean", 0.5 * math.sqrt(loss / 100), column),
                _measure("mse", loss / 100, column),
                _measure("correlation_error", loss / 400, column),
                _measure("interval_sd", 0.0042 + 1 / loss**2, column),
                _measure("interval_rank", 0.0061 + 1 / loss**2, column),
            ]
        found += [_measure("uniqueness", 0.001, column), _measure("separation", 0.97, column)]
    for column, l_distinct, l_entropy, t, same in (
        ("diagnosis", 1.0, 1.0, 0.412, 0.0182),
        ("wealth", 4.0, 3.61, 0.287, 0.0),
    ):
        found += [
            _measure("l_distinct", l_distinct, column),
            _measure("l_entropy", l_entropy, column),
            _measure("l_recursive", 1.0, column),
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
    edges = EDGES.tolist()
    for column in ORDERED:
        skew = column in ("income", "commute_km")
        before = _bell(-0.7 if skew else 0.0, 0.9, edges)
        after = _bell(-0.6 if skew else 0.0, 0.9 - 0.003 * _LOSS[column], edges)
        if skew:
            before[-2:] = after[-2:] = [None, None]
        made.append({"column": column, "kind": "numeric",
                     "unit": "standard deviations from the mean", "edges": edges,
                     "original": before, "released": after})  # fmt: skip
    return made


def _correlations() -> dict[str, Any]:
    columns = list(ORDERED)

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
                    "label": f"k={k} {release} {grouping}", "k": k, "space": "gower",
                    "grouping": grouping, "release": release, "varied": {},
                    "status": "ok", "seconds": 31.4, "kept": False,
                    "measures": {"il": il, "linkage_masked_to_original": linkage,
                                 "min_class_size": float(k), "correlation_error": il / 400},
                    "errors": [], "policy_hash": "b7c9" * 15,
                })  # fmt: skip
    for cell in cells:
        cell["pareto"] = not any(_dominates(other, cell) for other in cells)
    wrong = {"path": "k", "message": "is 200,000, more than the 100,000 rows"}
    cells.append(cells[0] | {
        "label": "k=200000 centroid mdav", "k": 200_000, "status": "error", "seconds": None,
        "pareto": False, "measures": {"linkage_masked_to_original": None}, "errors": [wrong],
    })  # fmt: skip
    return {"x": "il", "y": "linkage_masked_to_original", "cells": cells}


def _dominates(one: dict[str, Any], other: dict[str, Any]) -> bool:
    axes = ("il", "linkage_masked_to_original")
    pairs = [(one["measures"][axis], other["measures"][axis]) for axis in axes]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

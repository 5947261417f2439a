"""The whole job gives the published figures: Spark's result is the kernel's result."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from reference_data import data_file

import sparkanon

# Exact MDAV, METHODS.md; two independent implementations agree on these.
EXPECTED = {
    ("tarragona", 3): 16.9326,
    ("census", 5): 9.0884,
    ("eia", 10): 3.8397,
}
NOT_IN_EIA = ("UTILNAME", "STATE", "YEAR", "MONTH")


@pytest.mark.parametrize(("name", "k"), EXPECTED)
def test_il_of_mdav_through_the_pipeline(spark: SparkSession, name: str, k: int) -> None:
    path = data_file(f"{name}.csv")
    header = path.read_text().splitlines()[0].split(",")
    roles = {c: "keep" if c in NOT_IN_EIA else "quasi_identifier" for c in header}
    columns = {
        c: {"role": role, "as": "double"} if role == "quasi_identifier" else role
        for c, role in roles.items()
    }
    release = sparkanon.anonymize(
        None,
        {
            "input": {"format": "csv", "path": str(path)},
            "columns": columns,
            "k": k,
            "method": {"grouping": "mdav"},
        },
        spark=spark,
    )
    il = next(m.value for m in release.measures if m.measure == "il" and m.column is None)
    assert il == pytest.approx(EXPECTED[name, k], abs=5e-5)

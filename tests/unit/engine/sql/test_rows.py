"""Row keys and class hashes: their SQL decides releases and samples, so it may never change."""

from __future__ import annotations

from pyspark.sql import types as T

from sparkanon.engine.sql.rows import hash_of, row_hash

MAPS = T.MapType(T.StringType(), T.IntegerType())
SCHEMA = (
    T.StructType()
    .add("a", T.IntegerType())
    .add("b.c", T.StringType())
    .add("m", MAPS)
    .add("s", T.StructType().add("x", T.ArrayType(MAPS)))
)


def test_the_row_key_is_what_it_always_was() -> None:
    found = row_hash(SCHEMA.fields)
    assert found == (
        "xxhash64(`a`, `a` is null, `b.c`, `b.c` is null, to_json(struct(`m`)), `m` is null, "
        "to_json(struct(`s`)), `s` is null)"
    )


def test_hashes_of_classes_are_what_they_always_were() -> None:
    assert hash_of(["x0", "x1"]) == "xxhash64(x0, x0 is null, x1, x1 is null)"
    assert hash_of(["v0"], "cls") == "xxhash64(v0, v0 is null, cls)"

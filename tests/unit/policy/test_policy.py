"""Policies: what is refused, with which path, and that nothing is repaired silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from seeds import seed_file, seed_text

from sparkanon.errors import PolicyError
from sparkanon.groupings import GROUPINGS, Mdav, Refined
from sparkanon.policy import (
    ColumnPolicy,
    Method,
    Policy,
    Role,
    load_policy,
    make_policy,
    read_seed,
    schema_text,
)
from sparkanon.policy.loading import changed, parse
from sparkanon.policy.model import SeedSource
from sparkanon.releases.permute import Permute

ROOT = Path(__file__).resolve().parents[3]

INFINITE = float("inf")
GOOD: dict[str, Any] = {
    "version": 1,
    "input": {"format": "parquet", "path": "in.parquet"},
    "output": {"format": "parquet", "path": "out"},
    "columns": {
        "id": "identifier",
        "age": "quasi_identifier",
        "income": {"role": "quasi_identifier", "type": "numeric"},
        "illness": "sensitive",
    },
    "k": 5,
}


def problems(**changes: Any) -> dict[str, str]:
    with pytest.raises(PolicyError) as caught:
        make_policy(GOOD | changes)
    return {problem.path: problem.message for problem in caught.value.problems}


def columns(**changes: Any) -> dict[str, Any]:
    return {"columns": GOOD["columns"] | changes}


def generalize(**taxonomies: Any) -> dict[str, Any]:
    return {"name": "generalize", "taxonomies": taxonomies}


def test_a_good_policy_has_the_documented_defaults() -> None:
    policy = make_policy(GOOD)
    assert policy.quasi_identifiers == ("age", "income")
    assert policy.method.space.key == "euclidean"
    assert policy.method.grouping.key == "refined"
    assert policy.method.release.key == "centroid"
    assert policy.nulls == "own_category"
    assert policy.unlisted == "error"


def test_every_mistake_is_reported_at_once_with_its_path() -> None:
    found = problems(
        k=1,
        colour="red",
        gates={"max_ill": 3},
        method={"space": "euclid", "grouping": {"name": "refined", "passes": -1}},
        **columns(age={"role": "quasi"}),
    )
    assert set(found) == {
        "k", "colour", "gates.max_ill", "method.space", "method.grouping.passes",
        "columns.age.role",
    }  # fmt: skip
    assert "did you mean euclidean?" in found["method.space"]
    assert "greater than or equal to 2. Got 1 instead" in found["k"]


@pytest.mark.parametrize("digits", [19, 4_000, 5_000])
def test_no_table_has_so_many_rows(digits: int) -> None:
    number = 10**digits
    attack = {"name": "nearest_record", "targets": number}
    for change in (
        {"k": number},
        {"audit": {"targets": number}},
        {"audit": {"attacks": [attack]}},
    ):
        (reported,) = problems(**change).values()
        assert "must be less than or equal to 9223372036854775807. Got" in reported
        assert len(reported) < 150


def refined(**parameters: Any) -> dict[str, Any]:
    return {"grouping": {"name": "refined"} | parameters}


@pytest.mark.parametrize(
    ("start", "path", "reported"),
    [
        ("mdaf", "start", "unknown start 'mdaf'; did you mean mdav or vmdav or md? choose from"),
        ("refined", "start", "unknown start 'refined'"),
        ({"name": "mdav", "speed": 1}, "start.speed", "is not a known option here"),
        (3, "start", "must be a name, or a mapping with 'name'"),
    ],
)
def test_mistakes_in_a_start_are_reported_with_their_path(
    start: Any, path: str, reported: str
) -> None:
    found = problems(method=refined(start=start))
    assert list(found) == [f"method.grouping.{path}"]
    assert found[f"method.grouping.{path}"].startswith(reported)


def test_a_start_is_built_and_written_back() -> None:
    for start in ("mdav", {"name": "mdav"}):
        policy = make_policy(GOOD | {"method": refined(start=start, effort="high")})
        assert policy.method.grouping == Refined(start=Mdav(), effort="high")
        assert policy.to_dict()["method"]["grouping"] == {
            "name": "refined", "passes": 6, "effort": "high", "start": {"name": "mdav"},
        }  # fmt: skip
        assert make_policy(policy.to_dict()) == policy
    assert GROUPINGS.build(GROUPINGS.config(policy.method.grouping)) == policy.method.grouping
    plain = make_policy(GOOD)
    assert make_policy(plain.to_dict()) == plain


def test_a_start_may_ask_for_smaller_blocks() -> None:
    assert Refined(start=Mdav()).block_rows == Mdav.block_rows < Refined().block_rows


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, "5", True, None])
def test_k_is_never_repaired(k: object) -> None:
    assert "k" in problems(k=k)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"columns": {"id": "identifier"}}, "columns"),
        ({"columns": {}}, "columns"),
        ({"output": {"format": "parquet", "path": "in.parquet"}}, "output.path"),
        ({"output": {"format": "parquet", "path": "./x/../in.parquet"}}, "output.path"),
        ({"output": {"format": "parquet", "path": "in.parquet/inside"}}, "output.path"),
        ({"output": {"format": "parquet", "name": "db.t"}}, "output.path"),
        ({"output": {"format": "table", "path": "x"}}, "output.name"),
        ({"output": {"format": "excel", "path": "x"}}, "output.format"),
        ({"input": {"format": "parquet", "path": "x", "version": 3}}, "input.version"),
        ({"input": {"format": "parquet", "path": "x", "types": "a INT"}}, "input.types"),
        ({"nulls": "ignore"}, "nulls"),
        ({"seed": {"env": "A", "file": "b"}}, "seed"),
        ({"seed": {}}, "seed"),
        ({"seed": 42}, "seed"),
        ({"gates": {"max_il": "low"}}, "gates.max_il"),
        (
            {"method": {"release": {"name": "permute", "blocks": [["id"]]}}},
            "method.release.blocks.0",
        ),
        (
            {"method": {"release": {"name": "permute", "blocks": [["age"], ["age"]]}}},
            "method.release.blocks",
        ),
        (
            {"method": {"space": {"name": "euclidean", "weights": {"id": 2.0}}}},
            "method.space.weights.id",
        ),
        (
            {"method": {"space": {"name": "gower", "weights": {"age": 0.0, "income": 0.0}}}},
            "method.space.weights",
        ),
        (columns(age={"role": "sensitive", "type": "numeric"}), "columns.age"),
        (columns(age={"role": "quasi_identifier", "order": [1, 2]}), "columns.age.order"),
        (
            columns(age={"role": "quasi_identifier", "type": "ordinal", "order": [1, 1]}),
            "columns.age.order",
        ),
        (
            columns(age={"role": "quasi_identifier", "type": "date", "as": "double"}),
            "columns.age.as",
        ),
        (
            {"output": {"format": "parquet", "path": "o", "partition_by": ["id"]}},
            "output.partition_by",
        ),
        ({"constraints": {"t_closeness": True}}, "constraints.t_closeness.t"),
        ({"constraints": {"t_closeness": {"t": True}}}, "constraints.t_closeness.t"),
        ({"constraints": {"l_diversity": None}}, "constraints.l_diversity"),
        ({"constraints": {"l_diversity": {"l": 2, "c": 3}}}, "constraints.l_diversity.c"),
        (
            {"constraints": {"l_diversity": {"l": 2, "kind": "recursive", "c": INFINITE}}},
            "constraints.l_diversity.c",
        ),
        (
            {"constraints": {"l_diversity": {"l": INFINITE, "kind": "entropy"}}},
            "constraints.l_diversity.l",
        ),
        ({"gates": {"max_il": INFINITE}}, "gates.max_il"),
        ({"gates": {"max_il": float("nan")}}, "gates.max_il"),
        ({"gates": {"max_il": True}}, "gates.max_il"),
        (
            columns(w="weight") | {"method": {"space": {"name": "lda", "target": "w"}}},
            "method.space.target",
        ),
        (
            columns(age={"role": "quasi_identifier", "as": "double"})
            | {"method": {"release": "generalize"}},
            "columns.age.as",
        ),
        (
            columns(age={"role": "quasi_identifier", "as": "double"})
            | {"method": {"release": "permute"}},
            "columns.age.as",
        ),
        (
            {"method": {"release": generalize(income={"any": [1, 2]})}},
            "columns.income",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_where_it_stands(changes: Any, path: str) -> None:
    assert path in problems(**changes)


def test_nominal_under_euclidean_names_the_spaces_that_take_it() -> None:
    found = problems(**columns(age={"role": "quasi_identifier", "type": "nominal"}))
    assert "choose space: gower" in found["columns.age"]


def test_duplicate_keys_and_bad_yaml_say_where() -> None:
    with pytest.raises(PolicyError, match=r"line 3, column 3: .*'age' stands twice"):
        parse("columns:\n  age: keep\n  age: identifier\n")
    with pytest.raises(PolicyError, match="line 2"):
        parse("a: [1, 2\nb: 3")
    with pytest.raises(PolicyError, match="a policy is a mapping"):
        parse("- 1\n- 2")


def test_only_true_and_false_are_booleans_and_codes_keep_their_zeros() -> None:
    plain = "no, yes, on, off, 01234, 007.5, 12:30, 0x1F"
    assert parse(f"a: [{plain}]")["a"] == plain.split(", ")
    assert parse("no: 1") == {"no": 1}
    numbers = parse("a: [true, False, 0, -12, 1_000, 0.5, .5, 1.5e-3, -.inf]")["a"]
    assert numbers == [True, False, 0, -12, 1000, 0.5, 0.5, 0.0015, -INFINITE]
    assert [type(one) for one in numbers] == [bool] * 2 + [int] * 3 + [float] * 4
    assert changed({}, ["columns.a.order=[no, yes]"])["columns"]["a"]["order"] == ["no", "yes"]


def test_booleans_of_an_order_must_be_quoted() -> None:
    ordinal = {"role": "quasi_identifier", "type": "ordinal"}
    found = problems(**columns(age=ordinal | {"order": [False, True]}))
    assert found == {
        "columns.age.order": "must be a list of texts and numbers; put true and false in quotes"
    }
    text = make_policy(GOOD | columns(age=ordinal | {"order": ["no", "yes", 3, 4.5]}))
    assert text.columns["age"].order == ["no", "yes", 3, 4.5]


def test_a_constraint_survives_the_round_trip() -> None:
    for rule in (2, {"l": 2, "kind": "recursive"}, {"l": 2, "kind": "recursive", "c": 3}):
        policy = make_policy(GOOD | {"constraints": {"l_diversity": rule}})
        assert make_policy(policy.to_dict()) == policy


def test_a_taxonomy_that_holds_itself() -> None:
    tree: dict[str, Any] = {"coast": ["Aa"]}
    tree["inland"] = tree
    found = problems(
        **columns(town={"role": "quasi_identifier", "type": "nominal"}),
        method={"space": "gower", "release": generalize(town=tree)},
    )
    path = "method.release.taxonomies.town"
    assert found == {path: "more than 100 words stand over one another, or it holds itself"}


@pytest.mark.parametrize(
    ("method", "path", "reported"),
    [
        (
            {"space": {"name": "lda", "target": "illness", "alpha": 0.5}},
            "method.space.alpha",
            "must be a number from 1 to 1000, or search. Got 0.5 instead",
        ),
        (
            {"grouping": {"name": "vmdav", "gamma": "much"}},
            "method.grouping.gamma",
            "must be a number from 0 to 10, or auto. Got 'much' instead",
        ),
    ],
)
def test_a_choice_of_types_is_refused_once(method: Any, path: str, reported: str) -> None:
    assert problems(method=method) == {path: reported}


def test_set_changes_nested_and_short_forms() -> None:
    data = {"k": 5, "method": {"grouping": "refined"}, "columns": {"age": "keep"}}
    new = changed(data, ["k=10", "method.grouping.passes=2", "columns.age.type=date", "runs=a=b"])
    assert new["k"] == 10
    assert new["method"]["grouping"] == {"name": "refined", "passes": 2}
    assert new["columns"]["age"] == {"role": "keep", "type": "date"}
    assert new["runs"] == "a=b"
    assert data["k"] == 5
    for bad in ("k", "=3", "k.x=1"):
        with pytest.raises(PolicyError, match="--set"):
            changed(data, [bad])


def test_the_hash_is_of_the_meaning_not_of_the_text() -> None:
    spelled = GOOD | {"method": {"grouping": {"name": "refined", "passes": 6}}}
    assert make_policy(GOOD).digest() == make_policy(spelled).digest()
    assert make_policy(GOOD).digest() != make_policy(GOOD | {"k": 6}).digest()


def test_a_policy_survives_the_round_trip() -> None:
    policy = make_policy(GOOD | {"method": {"release": {"name": "permute", "blocks": [["age"]]}}})
    assert Policy.model_validate(policy.to_dict()) == policy


def test_a_policy_can_be_built_in_code() -> None:
    built = Policy(
        columns={"age": "quasi_identifier", "illness": ColumnPolicy(role=Role.SENSITIVE)},
        k=3,
        method=Method(grouping=Refined(passes=2), release=Permute(blocks=[["age"]])),
    )
    written = make_policy(
        {
            "columns": {"age": "quasi_identifier", "illness": "sensitive"},
            "k": 3,
            "method": {
                "grouping": {"name": "refined", "passes": 2},
                "release": {"name": "permute", "blocks": [["age"]]},
            },
        }
    )
    assert built == written
    with pytest.raises(ValidationError):
        Refined(passes=-1)


def test_seeds_are_read_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SEED", seed_text("horse"))
    seed = read_seed(SeedSource(env="MY_SEED"))
    assert seed.secret == seed_text("horse").encode()
    assert not seed.drawn
    assert seed_text("horse") not in repr(seed) + str(seed)
    assert seed.commitment("a") != seed.commitment("b")
    assert seed.commitment("a") == read_seed(SeedSource(env="MY_SEED")).commitment("a")
    file = seed_file(tmp_path, "from a file")
    assert read_seed(SeedSource(file=file)).secret == seed_text("from a file").encode()
    with pytest.raises(PolicyError, match=r"seed\.file"):
        read_seed(SeedSource(file=str(tmp_path / "none")))
    assert read_seed(None).drawn
    assert read_seed(None).secret != read_seed(None).secret


def test_weak_seeds_are_refused_with_the_command_that_makes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SEED", "731")
    with pytest.raises(PolicyError, match=r"seed\.env.*128 bits.*token_hex\(32\)") as caught:
        read_seed(SeedSource(env="MY_SEED"))
    assert "731" not in str(caught.value)
    file = Path(seed_file(tmp_path))
    file.chmod(0o640)
    with pytest.raises(PolicyError, match=r"seed\.file: others may read .*chmod 600"):
        read_seed(SeedSource(file=str(file)))


def test_the_exported_schema_is_up_to_date() -> None:
    exported = (ROOT / "conf" / "policy.schema.json").read_text()
    assert exported == schema_text(), "run: sparkanon schema > conf/policy.schema.json"
    assert {"mdav", "refined"} <= set(
        json.loads(exported)["$defs"]["Method"]["properties"]["grouping"]["anyOf"][0]["enum"]
    )


@pytest.mark.parametrize("path", sorted((ROOT / "conf" / "policies").glob("*.yaml")), ids=str)
def test_policies_that_ship_are_valid(path: Path) -> None:
    load_policy(path)


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"runs": "out"}, "runs", "lies inside the output"),
        ({"runs": "file:out/../out/runs"}, "runs", "lies inside the output"),
        ({"runs": "pairs", "private": {"path": "pairs"}}, "runs", "lies inside private.path"),
        ({"runs": "pairs/runs", "private": {"path": "pairs"}}, "runs", "lies inside private.path"),
        ({"runs": "m", "audit": {"table": {"path": "m"}}}, "runs", "lies inside audit.table.path"),
        ({"staging": "out"}, "output.staging", "lies inside the output"),
        ({"staging": "out/deep"}, "output.staging", "lies inside the output"),
        (
            {"staging": "pairs", "private": {"path": "pairs"}},
            "output.staging",
            "lies inside private.path",
        ),
    ],
)
def test_private_places_lie_in_nothing_that_is_replaced_or_read(
    changes: dict[str, Any],
    path: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    changes = dict(changes)
    if str(changes.get("runs", "")).startswith("file:"):
        changes["runs"] = f"file://{tmp_path}/out/../out/runs"  # two slashes, or one, or three
    if "staging" in changes:
        changes["output"] = GOOD["output"] | {"staging": changes.pop("staging")}
    assert message in problems(**changes)[path]


def test_private_places_may_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = make_policy(
        GOOD
        | {
            "output": GOOD["output"] | {"staging": "secret"},
            "private": {"path": "secret/pairs"},
            "runs": "secret/runs",
            "audit": {"table": {"path": "secret/measures"}},
        }
    )
    assert made.private_places == {
        "runs": "secret/runs",
        "output.staging": "secret",
        "private.path": "secret/pairs",
        "audit.table.path": "secret/measures",
    }


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"runs": "a\0b"}, "runs"),
        ({"private": {"path": "a\0b"}}, "private.path"),
        ({"output": {"format": "parquet", "path": "a\0b"}}, "output.path"),
        ({"seed": {"file": "a\0b"}}, "seed.file"),
    ],
)
def test_a_path_holds_no_nul(changes: dict[str, Any], path: str) -> None:
    assert "NUL" in problems(**changes)[path]


def test_a_path_is_none_that_no_system_takes() -> None:
    assert "at most 4,096 characters" in problems(runs="x/" * 100_000)["runs"]


def test_flags_of_spark_are_true_or_false() -> None:
    source = {"format": "csv", "path": "a.csv"}
    for fine in (True, "false", "TRUE"):
        make_policy(GOOD | {"input": source | {"options": {"header": fine, "nullValue": "no"}}})
    found = problems(input=source | {"options": {"header": "yes", "multiLine": 1}})
    assert found == {
        "input.options.header": "must be true or false",
        "input.options.multiLine": "must be true or false",
    }

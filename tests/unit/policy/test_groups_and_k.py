"""k, grouping and constraints: required where a release makes groups, refused where none does."""

from __future__ import annotations

from typing import Any

import pytest

from sparkanon.catalogue import RISK_GATES
from sparkanon.errors import PolicyError
from sparkanon.policy import Method, Policy, make_policy
from sparkanon.policy.grid import make_cells
from sparkanon.releases.top_bottom import TopBottom

QUASI: dict[str, Any] = {
    "age": "quasi_identifier",
    "income": {"role": "quasi_identifier", "type": "numeric"},
}
GROUPED: dict[str, Any] = {
    "version": 1,
    "input": {"format": "parquet", "path": "in.parquet"},
    "output": {"format": "parquet", "path": "out"},
    "columns": {"id": "identifier", **QUASI, "illness": "sensitive"},
    "k": 5,
}
RELEASE = {"name": "top_bottom", "share": 0.05}
ALONE: dict[str, Any] = {
    "columns": {"id": "identifier", **QUASI, "illness": "sensitive"},
    "method": {"release": RELEASE},
    "gates": {"max_uniqueness": 0.2},
}


def problems(policy: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(PolicyError) as caught:
        make_policy(policy)
    return {problem.path: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("changes", "meaning"),
    [
        ({}, "889dc32eeccbb21f290c1ba8151a903b0d18a099ebb8f9c7226efabd18bc36fe"),
        (
            {"method": {"release": "permute", "grouping": "mdav"}},
            "3f6368b1f773cbeaa06ff961696fd3e96b6ba4f0bb34b600b8733798620b961f",
        ),
        (
            {"method": {"release": {"name": "hybrid"}}, "k": 4},
            "6df617dae6623ae497790be385290e8c52d9ee835bdb3c698b7437f7ba0022cb",
        ),
        (
            {
                "method": {"space": "gower", "release": {"name": "generalize"}},
                "constraints": {"l_diversity": 3},
                "nulls": "reject",
            },
            "3a58ae23b08d8df3f67a76c455abc77545b6cbbc381e23fa563925250903462d",
        ),
    ],
    ids=["centroid", "permute", "hybrid", "generalize"],
)
def test_draws_are_keyed_as_they_were(changes: dict[str, Any], meaning: str) -> None:
    """Another hash is another release of the same table, policy and seed."""
    assert make_policy(GROUPED | changes).meaning() == meaning


def test_a_release_without_groups_has_neither_k_nor_grouping() -> None:
    policy = make_policy(ALONE)
    assert policy.k is policy.groups is policy.method.grouping is None
    assert policy.few == 10
    assert policy.to_dict()["method"].keys() == {"space", "release"}
    assert "k" not in policy.to_dict()
    assert make_policy(policy.to_dict()) == policy
    assert policy.promise.text.startswith("Nothing is guaranteed")


def test_the_default_grouping_is_that_of_releases_by_group() -> None:
    assert Method(release=TopBottom(share=0.1)).grouping is None
    made = make_policy(GROUPED)
    assert made.groups is not None
    assert (made.groups.grouping.key, made.groups.k, made.few) == ("refined", 5, 5)
    assert "grouping" in problems(GROUPED | {"method": {"grouping": None}}).popitem()[0]


def test_k_is_required_by_groups() -> None:
    without = {name: part for name, part in GROUPED.items() if name != "k"}
    for one in (without, without | {"k": None}):
        assert problems(one) == {
            "k": "is required: release 'centroid' needs groups of at least k records"
        }
    everything = problems(without | {"gates": {"max_ill": 1}, "seed": {}})
    assert set(everything) == {"k", "gates.max_ill", "seed"}


def test_what_only_groups_use_is_refused_all_at_once() -> None:
    method = {
        "release": RELEASE,
        "grouping": "mdav",
        "space": {"name": "lda", "target": "illness"},
    }
    found = problems(ALONE | {"k": 5, "method": method, "constraints": {"l_diversity": 2}})
    assert set(found) == {"k", "method.grouping", "method.space", "constraints.l_diversity"}
    assert all(
        text.startswith("is not used: release 'top_bottom' makes no groups")
        for text in found.values()
    )


def test_k_serves_a_count_of_classes_under_it() -> None:
    gated, listed = {"gates": {"max_below_k": 0.1}}, {"audit": {"take": ["below_k"]}}
    for asks, who in ((gated, "gate max_below_k is about"), (listed, "audit takes")):
        policy = make_policy(ALONE | asks | {"k": 5})
        assert policy.few == 5
        assert policy.groups is None
        assert policy.promise.k is None
        assert problems(ALONE | asks) == {"k": f"is required: {who} below_k, which counts by it"}


def test_what_guarantees_nothing_needs_a_gate_on_a_risk() -> None:
    for gates in ({}, {"max_il": 5}, {"max_linkage_baseline": 1}):
        text = problems(ALONE | {"gates": gates})["gates"]
        assert text.startswith("release 'top_bottom' guarantees nothing, so a gate on a risk")
        assert "max_linkage_masked_to_original" in text
        assert "max_uniqueness" in text
    for gate in set(RISK_GATES) - {"max_below_k"}:
        make_policy(ALONE | {"gates": {gate: 1}})


def test_as_double_is_for_computed_numbers() -> None:
    columns = QUASI | {"income": {"role": "quasi_identifier", "as": "double"}}
    assert "publishes no means" in problems(ALONE | {"columns": columns})["columns.income.as"]
    make_policy(GROUPED | {"columns": columns, "method": {"release": "hybrid"}})


def test_nominal_columns_are_refused_with_the_releases_that_take_them() -> None:
    columns = QUASI | {"age": {"role": "quasi_identifier", "type": "nominal"}}
    method = {"release": RELEASE, "space": "gower"}
    text = problems(ALONE | {"columns": columns, "method": method})["columns.age"]
    assert "release 'top_bottom' does not take" in text
    assert "choose release: centroid or permute or generalize" in text


def cells(policy: Policy, grid: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(cell.label, cell.policy.to_dict()) for cell in make_cells(policy, grid)]


def test_a_sweep_varies_k_and_groupings_for_releases_that_use_them() -> None:
    grid = {
        "method.release": ["centroid", RELEASE],
        "method.grouping": ["mdav", "vmdav"],
        "k": [3, 9],
    }
    gates = {"gates": {"max_uniqueness": 0.5}}
    for base in (GROUPED | gates, ALONE):
        found = cells(make_policy(base), grid)
        assert [label for label, _ in found] == [
            "k=3 centroid mdav", "k=9 centroid mdav", "k=3 centroid vmdav", "k=9 centroid vmdav",
            "share=0.05 top_bottom",
        ]  # fmt: skip
        assert "k" not in found[-1][1]


def test_a_sweep_from_a_release_without_groups_gets_the_default_grouping() -> None:
    found = cells(make_policy(ALONE), {"method.release": ["permute"], "k": [4]})
    assert [one["method"]["grouping"]["name"] for _, one in found] == ["refined"]


def test_a_sweep_in_which_nothing_uses_k_says_so() -> None:
    with pytest.raises(PolicyError, match="--k: no method of the sweep has this parameter"):
        make_cells(make_policy(ALONE), {"k": [3, 5]})

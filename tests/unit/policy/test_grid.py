"""Grids of policies: which cells, which labels, and who is named when a value is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from sparkanon.errors import PolicyError
from sparkanon.policy import Policy, make_policy
from sparkanon.policy.grid import make_cells, read_grid


def a_policy(**changes: Any) -> Policy:
    columns = {"age": "quasi_identifier", "pay": "quasi_identifier", "name": "identifier"}
    return make_policy({"columns": columns, "k": 7} | changes)


def labels(policy: Policy, **grid: Any) -> list[str]:
    paths = {name.replace("__", "."): values for name, values in grid.items()}
    return [cell.label for cell in make_cells(policy, paths)]


def problems(call: Any) -> dict[str, str]:
    with pytest.raises(PolicyError) as caught:
        call()
    return {problem.path: problem.message for problem in caught.value.problems}


def test_every_k_of_a_method_then_the_next_method() -> None:
    found = labels(a_policy(), k=[3, 10], method__grouping=["mdav", "refined"])
    assert found == ["k=3 mdav", "k=10 mdav", "k=3 refined", "k=10 refined"]


def test_cells_differ_from_the_policy_only_in_what_is_varied() -> None:
    (cell,) = make_cells(a_policy(nulls="reject"), {"k": [3]})
    assert cell.policy == a_policy(nulls="reject", k=3)
    assert cell.policy.digest() == a_policy(nulls="reject", k=3).digest()


def test_a_method_keeps_the_parameters_of_the_policy() -> None:
    policy = a_policy(method={"grouping": {"name": "refined", "passes": 3}})
    mdav, refined = make_cells(policy, {"method.grouping": ["mdav", "refined"]})
    assert mdav.policy.method.grouping.key == "mdav"
    assert refined.policy == policy


def test_a_parameter_is_varied_for_the_methods_that_have_it() -> None:
    grid = {"method.grouping": ["mdav", "refined"], "method.grouping.passes": [2, 6]}
    cells = make_cells(a_policy(), grid)
    assert [cell.label for cell in cells] == [
        "k=7 mdav",
        "k=7 passes=2 refined",
        "k=7 passes=6 refined",
    ]
    assert [dict(cell.varied) for cell in cells] == [
        {},
        {"method.grouping.passes": 2},
        {"method.grouping.passes": 6},
    ]
    alone = {"method.grouping": ["mdav"], "method.grouping.passes": [2]}
    reported = problems(lambda: make_cells(a_policy(), alone))
    assert reported == {
        "--vary method.grouping.passes": "no method of the sweep has this parameter"
    }


def test_the_axes_that_vary_are_in_the_label() -> None:
    assert labels(a_policy(), method__space=["euclidean", "gower"]) == [
        "k=7 euclidean refined",
        "k=7 gower refined",
    ]
    assert labels(a_policy(), nulls=["reject", "impute"]) == [
        "k=7 nulls=reject refined",
        "k=7 nulls=impute refined",
    ]


def test_the_same_policy_twice_is_one_cell() -> None:
    assert labels(a_policy(), k=[3, 3]) == ["k=3 refined"]


def test_a_mapping_is_a_method_with_its_parameters() -> None:
    grid = read_grid({"method.grouping": "mdav, {name: refined, passes: 2}"})
    cells = make_cells(a_policy(), grid)
    assert [cell.label for cell in cells] == ["k=7 mdav", "k=7 passes=2 refined"]


def test_problems_name_the_option_all_at_once() -> None:
    grid = {"k": [1, 3], "method.grouping": ["mdva", "refined"], "method.grouping.passes": [-1]}
    reported = problems(lambda: make_cells(a_policy(), grid))
    assert reported.keys() == {"--k", "--grouping", "--vary method.grouping.passes"}
    assert "Got 1 instead" in reported["--k"]
    assert "did you mean mdav" in reported["--grouping"]


def test_a_problem_of_a_combination_names_the_combination() -> None:
    columns = {"age": "quasi_identifier", "job": {"role": "quasi_identifier", "type": "nominal"}}
    policy = a_policy(columns=columns, method={"space": "gower"})
    reported = problems(lambda: make_cells(policy, {"method.space": ["gower", "euclidean"]}))
    assert reported.keys() == {"columns.job"}
    assert reported["columns.job"].endswith("(with space=euclidean)")


@pytest.mark.parametrize("path", ["input.path", "output.path", "runs", "version"])
def test_what_a_sweep_cannot_vary(path: str) -> None:
    assert problems(lambda: make_cells(a_policy(), {path: ["a"]})).keys() == {f"--vary {path}"}


def test_unknown_paths_and_empty_grids() -> None:
    assert "--vary nuls" in problems(lambda: make_cells(a_policy(), {"nuls": ["reject"]}))
    assert "--vary k.x" in problems(lambda: make_cells(a_policy(), {"k.x": [1]}))
    assert problems(lambda: make_cells(a_policy(), {})).keys() == {""}


def test_reading_values() -> None:
    vary = ["gates.max_il=10,20.5", "columns.a.order=[x,y],[y,x]"]
    assert read_grid({"k": "3, 5", "method.space": None}, vary) == {
        "k": [3, 5],
        "gates.max_il": [10, 20.5],
        "columns.a.order": [["x", "y"], ["y", "x"]],
    }
    reported = problems(lambda: read_grid({"k": "3,,5"}, ["passes", "k=1", "nulls="]))
    assert reported.keys() == {"--k", "--vary", "--vary nulls"}

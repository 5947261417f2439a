"""A policy file of a stranger: small texts that would take all memory, or Python's whole stack."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sparkanon.cli.app import run
from sparkanon.errors import InputError, PolicyError
from sparkanon.policy.grid import make_cells, read_grid
from sparkanon.policy.loading import changed, load_policy, make_policy, parse, put
from sparkanon.policy.strict_yaml import DEEPEST, LONGEST, MOST
from sparkanon.report import write_report

DEEP = 20_000
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)  # 9 ** 12 values
MERGED = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 12)
)
STAIRS = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 2_000))
BOMBS = {
    "laughs": LAUGHS,
    "merged": MERGED,
    "stairs": STAIRS,
    "brackets": "k: " + "[" * DEEP + "]" * DEEP,
    "open brackets": "k: " + "[" * DEEP,
    "braces": "k: " + "{a: " * DEEP + "1" + "}" * DEEP,
    "dashes": "- " * DEEP + "x",
    "questions": "? " * DEEP + "x",
    "lines": "\n".join(" " * i + "a:" for i in range(1_300)),
    "own child": "k: &a [1, *a]",
    "own grandchild": "k: &a {b: {c: [*a]}}",
    "own key": "k: &a {? [*a] : 1}",
    "long": "k: " + "x" * LONGEST,
    "long list": "k: [" + "1," * MOST + "]",
    "open quote": 'k: "' + "x\n" * 400_000,
    "longest open quote": ('k: "' + "x\n" * LONGEST)[:LONGEST],
    "simple keys": "k: [" + "a: b, " * MOST + "]",
    "set": "k: !!set {" + ", ".join(f"? a{i}" for i in range(MOST)) + "}",
    "anchors": "\n".join(f"a{i}: &a{i} 1" for i in range(MOST)),
}


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_at_once_and_in_words(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(BOMBS[name])
    with within(1):
        assert run(["validate", str(policy)]) == 2
    reported = capfd.readouterr().err
    assert "YAML" in reported
    assert "unexpected error" not in reported
    assert len(reported) < 300


@pytest.mark.parametrize("name", ["laughs", "brackets", "own child", "braces"])
def test_a_change_on_the_command_line_is_no_way_around(name: str) -> None:
    # one line, because a change is a value
    text = "{" + ", ".join(LAUGHS.splitlines()) + "}" if name == "laughs" else BOMBS[name][3:]
    with within(1), pytest.raises(PolicyError, match=r"--set: k: .*YAML"):
        changed({}, [f"k={text}"])
    with within(1), pytest.raises(PolicyError, match=r"--vary nulls: .*YAML"):
        read_grid({}, [f"nulls={text}"])


def test_a_path_of_many_dots_is_refused() -> None:
    with within(1), pytest.raises(PolicyError, match=r"--set: .*dots"):
        changed({}, [f"{'a.' * DEEP}a=1"])
    with pytest.raises(PolicyError, match="dots"):
        put({}, "a." * DEEP + "a", 1, "--vary")


def test_a_sweep_of_too_many_combinations_is_refused() -> None:
    policy = make_policy({"columns": {"age": "quasi_identifier"}, "k": 3})
    ten = [str(i) for i in range(2, 12)]
    grid = {"k": list(range(2, 1_002)), "audit.targets": ten, "audit.subsets": ten}
    with within(1), pytest.raises(PolicyError, match="100,000 combinations"):
        make_cells(policy, grid)


MANY = [f"a{i}" for i in range(10_000)]


def test_a_policy_of_ten_thousand_columns_is_read_in_the_time_of_ten_thousand(
    tmp_path: Path,
) -> None:
    policy = tmp_path / "policy.yaml"
    columns = "\n".join(f"  {name}: quasi_identifier" for name in MANY)
    policy.write_text(f"k: 3\nmethod: {{release: permute}}\ncolumns:\n{columns}\n")
    with within(3):
        assert len(load_policy(policy).quasi_identifiers) == len(MANY)
    typed = {name: {"role": "quasi_identifier", "type": "numeric"} for name in MANY}
    words = {"name": "generalize", "taxonomies": {name: {"x": ["y"]} for name in MANY[:500]}}
    with within(1), pytest.raises(PolicyError, match="a taxonomy is for type: nominal"):
        make_policy({"columns": typed, "k": 3, "method": {"release": words}})


LOUD = {
    "a value": {"k": "1" * 300_000},
    "a key": {"x" * 300_000: 1},
    "a column": {"columns": {"x" * 300_000: "nobody"}},
    "a method": {"method": {"grouping": "x" * 300_000}},
    "a sensitive column": {"constraints": {"l_diversity": {"l": 2, "columns": ["x" * 300_000]}}},
    "keys": {f"key{i}": 1 for i in range(10_000)},
    "roles": {"columns": dict.fromkeys(MANY, "nobody")},
    "gates": {"gates": dict.fromkeys(MANY, 1)},
    "measures": {"audit": {"take": MANY}},
}


@pytest.mark.parametrize("name", LOUD)
def test_a_message_is_not_as_long_as_what_it_is_about(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = {"columns": {"age": "quasi_identifier"}, "k": 3} | LOUD[name]
    with within(2), pytest.raises(PolicyError) as caught:
        make_policy(data)
    assert len(str(caught.value)) < 20_000
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(data))
    for arguments in ([], ["--json"]):
        assert run(["validate", str(policy), *arguments]) == 2
        reported = capfd.readouterr()
        assert len(reported.out + reported.err) < 20_000
    if name in ("keys", "roles"):
        assert len(caught.value.problems) == 10_000, "a program sees all of them"
        problems = json.loads(reported.out)["errors"]
        assert len(problems) == 21
        assert problems[-1]["message"] == "and 9980 more"


def test_what_people_write_is_still_read() -> None:
    deep = "[" * (DEEPEST - 2) + "x" + "]" * (DEEPEST - 2)
    assert parse(f"k: {deep}")["k"]
    with pytest.raises(PolicyError, match="levels"):
        parse(f"k: [{deep}]")
    shared = parse("a: &quasi {role: quasi_identifier, type: numeric}\nb: *quasi\nc: *quasi")
    assert shared["b"] == shared["c"] == {"role": "quasi_identifier", "type": "numeric"}


@pytest.mark.parametrize("text", ["2024-13-45", "!!int x", "9" * 5_000, "!!bool 7"])
def test_a_value_that_only_looks_like_one_is_reported_with_its_line(text: str) -> None:
    with pytest.raises(PolicyError, match="line 2, column 4: is not valid YAML"):
        parse(f"version: 1\nk: {text}")


@pytest.mark.parametrize("text", ['"\\ud800": 1', 'columns: {"\\udfff": keep}', 'k: "\\ud800"'])
def test_half_a_character_is_no_text(text: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(text)
    assert run(["validate", str(policy)]) == 2
    with pytest.raises(PolicyError, match=r"line 1, column .* holds half a character"):
        parse(text)
    with pytest.raises(PolicyError, match="--set: a path is no UTF-8 text"):
        changed({}, ["columns.\udcff=keep"])


SPOOF = "a\x1b[2J\n  k: is fine\u202e[bold]"  # clears the screen, begins a line, turns it around


@pytest.mark.parametrize("name", ["option", "column", "value"])
def test_a_terminal_obeys_no_word_of_a_policy(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = {"columns": {"age": "quasi_identifier"}, "k": 3}
    data |= {"option": {SPOOF: 1}, "column": {"columns": {SPOOF: "x"}}, "value": {"nulls": SPOOF}}[
        name
    ]
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(data))
    for arguments in ([], ["--json"]):
        assert run(["validate", str(policy), *arguments]) == 2
        reported = capfd.readouterr()
        text = reported.err if not arguments else json.loads(reported.out)["errors"][0]
        lines = text.splitlines() if isinstance(text, str) else list(text.values())
        assert all(line.isprintable() for line in lines)
        assert sum("is fine" in line for line in lines) == 1
        assert not any(line.strip().startswith("k: is fine") for line in lines)
        assert "[bold]" in "".join(lines), "shown as it is"


def test_an_endless_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    with policy.open("wb") as file:
        file.truncate(8 * 2**30)  # eight gigabytes that take no disk
    with within(1), pytest.raises(PolicyError):
        load_policy(policy)


def test_a_report_that_is_nested_or_huge_is_refused(tmp_path: Path) -> None:
    numbers = tmp_path / "report.json"
    numbers.write_text("[" * DEEP)
    with pytest.raises(InputError, match="is not JSON"):
        write_report(tmp_path)
    numbers.write_text('{"a":' * DEEP + "1" + "}" * DEEP)
    with pytest.raises(InputError, match="is not JSON"):
        write_report(tmp_path)
    numbers.write_text(json.dumps({"a": "x" * 50_000_000}))
    with within(2), pytest.raises(InputError, match="too large"):
        write_report(tmp_path)

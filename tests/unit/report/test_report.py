"""The report as text: what it says, what it never says, and that nothing in it can break out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_example import example_audit, example_run

from sparkanon.catalogue import CATALOGUE
from sparkanon.errors import InputError
from sparkanon.report import render, shown_count, write_report
from sparkanon.report.counts import without_counts
from sparkanon.report.glossary import GLOSSARY, word_for
from sparkanon.report.numbers import percent, plain
from sparkanon.report.reference import measures_page
from sparkanon.report.shown import shown_run

PROMISED = {
    "il",
    "sse",
    "sst",
    "il1s",
    "il1s_mean",
    "il_metrics",
    "mse",
    "eigen_difference",
    "correlation_error",
    "entropy",
    "mi_loss",
    "min_class_size",
    "below_k",
    "identifiers",
    "uniqueness",
    "separation",
    "linkage_masked_to_original",
    "linkage_original_to_masked",
    "interval_sd",
    "interval_rank",
    "linkage_baseline",
    "l_distinct",
    "l_entropy",
    "l_recursive",
    "t_closeness",
    "homogeneous",
    "il_dr_score",
}
NASTY = (
    "</script><script>alert(1)</script><img src=x onerror='alert(\"2\")'> ü 年 {{ 6*7777 }} \u2028"
)


class _Page(HTMLParser):
    """Tags with attributes, and the text between them, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._script = (dict(attrs).get("id") or "code") if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif data.strip():
            self.texts.append(data.strip())

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.tags if "id" in attributes]

    @property
    def text(self) -> str:
        return " ".join(self.texts).replace("\u00a0", " ")


def page(run: dict[str, Any]) -> _Page:
    return _Page(render(run))


def embedded(run: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(page(run).scripts["run-data"]))


COLUMNS = {
    "identifiers": ["name", "ref"],
    "unlisted": ["ref", NASTY],
    "copies": [
        {"column": "ref", "of": "person_id", "how": "row by row"},
        {"column": "age", "of": "age", "how": "holds the same values, perhaps in another order"},
    ],
}


def test_released_columns_that_should_not_be_there_are_shown() -> None:
    made = page(example_audit(columns=COLUMNS))
    assert "columns" in made.ids
    assert "ref copy of person_id" in made.text
    assert "age its own original: holds the same values, perhaps in another order" in made.text
    assert "alert" not in made.scripts["code"]
    assert embedded(example_audit(columns=COLUMNS))["columns"]["identifiers"] == ["name", "ref"]


def test_an_audit_that_found_no_such_column_says_so() -> None:
    nothing: dict[str, Any] = {"identifiers": [], "unlisted": [], "copies": []}
    made = page(example_audit(columns=nothing))
    assert made.text.count(" none ") >= 3
    assert "columns" not in page(example_run()).ids
    why = [{"measure": "copies", "why": "rows were suppressed"}]
    assert "rows were suppressed" in page(example_audit(columns=nothing, left_out=why)).text


# --- counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k", "shown"),
    [
        (0, 5, "0"),
        (1, 5, "fewer than 5"),
        (4, 5, "fewer than 5"),
        (4.0, 5, "fewer than 5"),
        (5, 5, "5"),
        (12345, 5, "12,345"),
        (None, 5, "not counted"),
        (1, 1, "1"),
    ],
)
def test_a_count_below_k_is_never_shown(n: float | None, k: int, shown: str) -> None:
    assert shown_count(n, k) == shown


def _small_counts(small: int) -> dict[str, Any]:
    """A run with the same small count in every part that can hold one; k = 1000."""
    cell = {"low": small, "high": small, "classes": small, "records": small}
    big = {"low": 1000, "high": 1999, "classes": 1500, "records": 1_700_000 - small}
    return example_run(
        k=1000,
        rows_in=2_000_000 + small,
        rows_out=2_000_000,
        status="refused",
        policy=None,
        gates=[
            {"gate": "min_k", "limit": 1000, "value": small, "passed": False},
            {"gate": "min_min_class_size", "limit": 0, "value": small, "passed": False},
        ],
        measures=[
            {"measure": "min_class_size", "column": None, "value": small, "low": small,
             "high": small},
            {"measure": "min_class_size", "column": "age", "value": small, "low": None,
             "high": None},
            {"measure": "homogeneous", "column": None, "value": small / 2_000_000, "low": None,
             "high": None},
        ],
        class_sizes={"classes": 1500 + small, "records": 1_700_000, "smallest": small,
                     "histogram": [cell, big]},
        distributions=[{"column": "age", "kind": "numeric", "unit": "sd", "edges": [-1, 0, 1, 2],
                        "original": [small / 2e6, 0.4, 0.6 - small / 2e6],
                        "released": [0.3, 0.3, 0.4]}],
        outlyingness=[{"decile": 1, "records": small, "linkage": 1 / small, "baseline": 0.1}],
        sweep={"x": "il", "y": "linkage_masked_to_original", "cells": [
            {"label": "a", "k": 3, "grouping": "mdav", "measures": {
                "il": 3.0, "linkage_masked_to_original": 0.2, "min_class_size": small},
             "pareto": True}]},
        correlations=None, seconds=None, versions=None, seed_commitment=None, policy_hash=None,
        created=None, left_out=None, run_id="run",
    )  # fmt: skip


def test_no_part_shows_or_embeds_a_small_count_or_what_it_follows_from() -> None:
    small = 737  # a number that nothing else on the page has
    html = render(_small_counts(small))
    # what a script or style says is ours; drawing coordinates reveal nothing, they are of stubs
    reported = html.replace(_Page(html).scripts["code"], "")
    assert "fewer than 1,000" in reported
    # totals minus the other cells would give it away as well
    for leak in (small, 2_000_000 + small, 1_700_000 - small, 1500):
        assert str(leak) not in reported, leak
        assert f"{leak:,}" not in reported, leak
    cell = embedded(_small_counts(small))
    assert cell["class_sizes"]["histogram"][1]["records"] == "withheld"
    assert cell["distributions"][0]["original"].count(None) == 2  # one alone could be computed
    assert cell["outlyingness"][0]["linkage"] is None


def test_messages_count_nobody_below_k() -> None:
    text = "column a1 has 4 such cells, 12 of 3,004 in 4.5 s of 2020, and 1,234 or 4; 0 are left"
    found = without_counts(text, 5)
    few = "fewer than 5"
    assert found == text.replace("has 4", f"has {few}").replace("or 4", f"or {few}")
    why = {"measure": "linkage_baseline", "why": "column town has 3 such cells"}
    (shown,) = shown_run({"k": 5, "left_out": [why]})["left_out"]
    assert shown["why"] == "column town has fewer than 5 such cells"


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.004, "under"), (0.005, 0.005), (0.995, 0.995), (0.997, "over"), (1.0, 1.0)],
)
def test_a_share_of_nearly_all_records_is_about_few_as_well(share: float, shown: Any) -> None:
    given = {"measure": "uniqueness", "column": "age", "value": share, "low": share}
    (cell,) = shown_run({"k": 5, "rows_out": 1000, "measures": [given]})["measures"]
    assert cell["value"] == shown if isinstance(shown, float) else shown in cell["value"]
    assert isinstance(shown, float) or str(share) not in str(cell)


@pytest.mark.parametrize("odd", [0.01, 0.99])
def test_a_decile_with_few_linked_records_hides_all(odd: float) -> None:
    """Ten deciles add up to the whole, which said "under 0.5 %"."""
    deciles = [{"decile": d, "records": 100, "linkage": 0.2, "baseline": 0.1} for d in range(10)]
    found = shown_run({"k": 5, "outlyingness": deciles})["outlyingness"]
    assert {row["linkage"] for row in found} == {0.2}
    deciles[3] |= {"linkage": odd}
    run = {"k": 5, "outlyingness": deciles, "run_id": "r", "status": "ok", "measures": []}
    assert {row["linkage"] for row in shown_run(run)["outlyingness"]} == {None}
    render(run)


@pytest.mark.parametrize("linked", [2, 200])
def test_a_sum_does_not_tell_a_term_that_is_withheld(linked: int) -> None:
    terms = {"il_metrics": 21.25, "il1s": 8.5, "interval_sd": 0.25}
    terms["linkage_masked_to_original"] = linked / 1000
    score = sum(terms.values()) / 4
    given = [{"measure": m, "column": None, "value": v} for m, v in terms.items()]
    given += [{"measure": "il_dr_score", "column": None, "value": score, "low": 7.4, "high": 7.6}]
    gate = {"gate": "max_il_dr_score", "limit": 99, "value": score, "compared": 7.6}
    cell = shown_run({"k": 5, "rows_out": 1000, "measures": given, "gates": [gate]})
    reported = [*(m for m in cell["measures"] if m["measure"] == "il_dr_score"), *cell["gates"]]
    assert len(reported) == 2
    for one in reported:
        assert (one["value"] == score) == (linked == 200)
        assert ("7.6" in str(one)) == (linked == 200)
    alone = shown_run({"k": 5, "rows_out": 1000, "measures": given[-1:]})
    assert str(score) not in str(alone), "with a weight of 1 it would be a term itself"
    render({"k": 5, "rows_out": 1000, "measures": given, "gates": [gate]})


def test_the_size_of_a_withheld_bar_does_not_depend_on_the_count() -> None:
    drawn = [re.findall(r'<rect[^>]*class="withheld"', render(_small_counts(n))) for n in (2, 900)]
    assert drawn[0]
    assert drawn[0] == drawn[1]


def test_rare_class_sizes_are_merged_with_their_neighbours() -> None:
    sizes = embedded(example_run())["class_sizes"]["histogram"]
    assert [(cell["low"], cell["high"], cell["classes"]) for cell in sizes[-2:]] == [
        (8, 8, 611),
        (9, 10, 272),
    ]


def test_without_k_counts_are_held_against_ten() -> None:
    run = {"run_id": "r", "status": "ok", "measures": [], "rows_out": 9}
    assert embedded(run)["rows_out"] == "fewer than 10"


# --- nothing private --------------------------------------------------------------------------


def test_places_seeds_and_values_in_the_policy_are_not_reported() -> None:
    run = example_run()
    run["policy"]["method"]["grouping"]["taxonomy"] = {"flu": "infection"}
    run["cells"] = ["a cell"]
    html = render(run)
    for secret in ("/secret/place", "SECRET_SEED_NAME", "doctorate", "infection", "a cell"):
        assert secret not in html


# --- escaping ---------------------------------------------------------------------------------


def _nasty() -> dict[str, Any]:
    """The example with a name that tries to break out wherever text can stand."""

    def spoil(part: Any) -> Any:
        if isinstance(part, dict):
            keep = ("gate", "measure", "x", "y", "kind", "role", "name", "status", "command")
            return {
                (NASTY if key == "age" else key): value if key in keep else spoil(value)
                for key, value in part.items()
            }
        if isinstance(part, list):
            return [spoil(item) for item in part]
        return NASTY if isinstance(part, str) else part

    run = {key: part if key in ("status", "command") else spoil(part)
           for key, part in example_run().items()}  # fmt: skip
    run["measures"].append({"measure": NASTY, "column": NASTY, "value": 1.0})
    run["gates"].append({"gate": NASTY, "limit": 1, "value": 2, "passed": False})
    return run


def test_names_cannot_break_out_of_html_attributes_svg_or_json() -> None:
    found = page(_nasty())
    assert [tag for tag, _ in found.tags if tag == "img"] == []
    assert sum(tag == "script" for tag, _ in found.tags) == 3
    assert not [a for _, attributes in found.tags for a in attributes if a.startswith("on")]
    assert str(6 * 7777) not in found.text  # a template in a name is text, too
    reported = json.loads(found.scripts["run-data"])
    assert reported["measures"][-1]["column"].startswith("</script><script>")
    assert reported["correlations"]["columns"][0].startswith("</script>")
    assert "</script><script>alert(1)</script>" in found.text  # shown as text


def test_the_page_lets_no_script_run_but_its_own() -> None:
    html = render(_nasty())
    policy = next(a["content"] for t, a in _Page(html).tags if "http-equiv" in a)
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline'; script" in policy  # styles only


def test_a_lone_surrogate_and_nan_do_not_stop_the_report(tmp_path: Path) -> None:
    run = example_run()
    run["measures"].append({"measure": "il", "column": "\ud800\x00", "value": float("nan")})
    html = render(run)
    (tmp_path / "r.html").write_text(html, encoding="utf-8")
    assert "NaN" not in _Page(html).scripts["run-data"]
    assert "not measured" in html


def test_nothing_points_out_of_the_page() -> None:
    found = page(_nasty())
    for tag, attributes in found.tags:
        for key in ("src", "href", "action", "xlink:href"):
            value = attributes.get(key)
            assert value is None or value.startswith(("#", "data:")), (tag, key)
    ids = found.ids
    assert len(ids) == len(set(ids))
    links = [a["href"] for t, a in page(example_run()).tags if t == "a"]
    assert {str(link)[1:] for link in links} <= set(page(example_run()).ids)


# --- content ----------------------------------------------------------------------------------


def test_every_promised_measure_is_explained() -> None:
    assert set(GLOSSARY) >= PROMISED
    assert all(word_for(name) is CATALOGUE[name] for name in CATALOGUE)
    text = page(example_run()).text
    for word in GLOSSARY.values():
        for part in (word.title, word.meaning, word.direction, word.conclude, word.formula,
                     word.source):  # fmt: skip
            assert part
            assert part in text


@pytest.mark.parametrize(
    ("status", "passed", "headline"),
    [
        ("published", True, "Published"),
        ("published", False, "Published although a gate failed"),
        ("refused", False, "Refused"),
        ("dry_run", True, "Would be published"),
        ("dry_run", False, "Would be refused"),
        ("ok", True, "Passed"),
        ("ok", False, "Failed"),
    ],
)
def test_the_verdict_stands_first(status: str, passed: bool, headline: str) -> None:
    gate = {"gate": "max_il", "limit": 10, "value": 5 if passed else 15, "passed": passed}
    html = render(example_run(status=status, gates=[gate]))
    found = re.search(r"<h1[^>]*>(.*?)</h1>", html)
    assert found is not None
    assert found[1] == headline
    assert f'class="verdict {"good" if passed else "bad"}"' in html


def test_a_gate_that_does_not_say_it_passed_has_failed() -> None:
    gates = [{"gate": "max_il", "limit": 10, "value": None, "passed": None}]
    assert "Failed" in page(example_run(status="ok", gates=gates)).text


def test_what_was_done_is_reported_from_the_policy() -> None:
    text = page(example_run()).text
    assert (
        "sparkanon grouped 99,412 records by 10 quasi-identifiers into groups of at least 5"
        in text
    )
    assert "person_id and name" in text
    assert "refined (passes = 6, effort = normal)" in text
    assert "of 100,000; 588 dropped" in text


def test_risk_stands_beside_a_random_guess() -> None:
    text = page(example_run()).text
    assert "11.2 %" in text
    assert "95 % limits 10.9 % to 11.5 %" in text
    assert "a random guess finds 0.005 %" in text


PARTS = {
    "class_sizes": "class-sizes",
    "distributions": "distributions",
    "correlations": "correlations",
    "sweep": "sweep",
}


@pytest.mark.parametrize(("part", "section"), PARTS.items())
def test_a_section_is_there_with_its_part_or_with_the_reason(part: str, section: str) -> None:
    assert section in page(example_run(left_out=None)).ids
    assert section not in page(example_run(left_out=None, **{part: None})).ids
    why = [{"measure": part, "why": "the moon was full"}]
    run = example_run(left_out=why, **{part: None})
    assert section in page(run).ids
    assert page(run).text.count("the moon was full") == 2  # there, and in the list at the end


def test_three_parts_are_enough() -> None:
    found = page({"run_id": "r", "status": "ok", "measures": []})
    assert "Measured" in found.text
    assert {"verdict", "measures", "glossary", "methods"} <= set(found.ids)


def test_every_chart_has_a_title_a_label_and_its_table() -> None:
    html = render(example_run())
    figures = re.findall(r"<figure.*?</figure>", html, re.DOTALL)
    assert len(figures) > 15
    for figure in figures:
        assert re.search(r"<svg[^>]*aria-label=", figure)
        assert "<title>" in figure
        assert "<tbody>" in figure


def test_an_unknown_measure_is_shown_under_its_own_name() -> None:
    run = example_run()
    run["measures"].append({"measure": "rule_accuracy", "column": None, "value": 0.25})
    assert "Rule accuracy" in page(run).text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.0821, "0.0821"), (8.21331, "8.21"), (412.3, "412"), (81651.4, "81,651"),
     (-0.5, "\u22120.5"), (1, "1"), (100, "100"), (1e-7, "1.00e\u221207")],
)  # fmt: skip
def test_plain_numbers(value: float, shown: str) -> None:
    assert plain(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 %"), (0.005, "0.005 %"), (8.21331, "8.21 %"), (40.12, "40.1 %"), (100, "100 %"),
     (1234.5, "1,234.5 %")],
)  # fmt: skip
def test_percentages(value: float, shown: str) -> None:
    assert percent(value).replace("\u00a0", " ") == shown


# --- files ------------------------------------------------------------------------------------


def test_write_report_draws_beside_the_numbers(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(example_run()), encoding="utf-8")
    path = write_report(tmp_path)
    assert path == tmp_path / "report.html"
    assert path.read_text(encoding="utf-8") == render(example_run())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.json"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing"),
        ("{secret", "is not JSON"),
        ("[1]", "must hold one JSON object"),
        ('{"report_version": 2}', "another version"),
        ('{"report_version": 1, "run_id": "r"}', "has no status"),
    ],
)
def test_a_bad_report_json_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "report.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        write_report(tmp_path)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "report.html").exists()


def test_the_report_needs_no_spark() -> None:
    code = "import sys, sparkanon.report; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_page_of_measures_is_up_to_date() -> None:
    kept = (Path(__file__).resolve().parents[3] / "docs" / "measures.md").read_text()
    assert kept == measures_page(), "run: sparkanon methods --page > docs/measures.md"

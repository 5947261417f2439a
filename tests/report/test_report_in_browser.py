"""The report in a real browser: opened, clicked through, resized, darkened, printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import PROGRAMS, Page, find_chromium, open_page
from no_skips import NO_BROWSER
from report_example import ORDERED, example_run

from sparkanon.report import render

pytestmark = pytest.mark.skipif(
    find_chromium() is None,
    reason=f"{NO_BROWSER}: none of {', '.join(PROGRAMS)} is installed (apt-get install chromium)",
)
SECTIONS = (
    "verdict",
    "class-sizes",
    "linkage",
    "attributes",
    "loss",
    "distributions",
    "correlations",
    "sweep",
    "measures",
    "glossary",
    "methods",
    "left-out",
)
NASTY = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One browser for all tests; every test loads the page afresh."""
    folder = tmp_path_factory.mktemp("report")
    run = example_run()
    run["measures"].append({"measure": "il", "column": NASTY, "value": 1.5})
    run["distributions"][0] |= {"column": NASTY}
    run["sweep"]["cells"][0] |= {"label": NASTY}
    path = folder / "report.html"
    path.write_text(render(run), encoding="utf-8")
    with open_page(path.as_uri(), folder) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _fresh(page: Page) -> Iterator[None]:
    page.size(1280, 900)
    page.media("light")
    page.reload()
    yield
    # whatever a test did: no complaint, nothing fetched, no foreign script
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.endswith("/report.html")] == []
    assert page.run("window.hacked === undefined")


def _shown(page: Page, selector: str) -> int:
    return int(
        page.run(
            f"[...document.querySelectorAll({selector!r})].filter(e => e.offsetHeight).length"
        )
    )


def test_every_section_is_there_and_has_height(page: Page) -> None:
    heights = page.run(
        "Object.fromEntries([...document.querySelectorAll('main > section')]"
        ".map(s => [s.id, s.offsetHeight]))"
    )
    assert tuple(heights) == SECTIONS
    assert all(height > 80 for height in heights.values())


def test_every_chart_is_drawn(page: Page) -> None:
    sizes = page.run(
        "[...document.querySelectorAll('figure:not([hidden]) .chart svg')].map(s =>"
        " [s.getBoundingClientRect().width, s.getBoundingClientRect().height,"
        "  s.querySelectorAll('rect, path, circle, polygon').length])"
    )
    assert len(sizes) >= 17
    assert all(width > 100 and height > 60 and shapes > 1 for width, height, shapes in sizes)


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_of_a_chart_is_cut_off(page: Page, width: int) -> None:
    page.size(width, 900)
    cut = page.run(
        "[...document.querySelectorAll('figure:not([hidden]) .chart svg')].flatMap(s => {"
        " const a = s.getBoundingClientRect();"
        " return [...s.querySelectorAll('text')].filter(t => {"
        "  const b = t.getBoundingClientRect();"
        "  return b.left < a.left - 1 || b.right > a.right + 1 || b.bottom > a.bottom + 2})"
        " .map(t => s.getAttribute('aria-label') + ': ' + t.textContent)})"
    )
    assert cut == []


@pytest.mark.parametrize("section", SECTIONS)
def test_the_navigation_leads_to_every_section(page: Page, section: str) -> None:
    page.click(f"nav a[href='#{section}']")
    page.wait_for(f"location.hash === '#{section}'")
    page.wait_for(
        f"(() => {{const b = document.getElementById('{section}').getBoundingClientRect();"
        " return b.top < innerHeight && b.bottom > 0})()"
    )
    if section not in SECTIONS[-3:]:  # the last ones can be too short to reach the top
        page.wait_for(f"document.querySelector('nav a[aria-current]').hash === '#{section}'")
    assert page.run("document.querySelectorAll('nav a[aria-current]').length") == 1


def test_the_column_picker_shows_one_column_or_all(page: Page) -> None:
    figures = "#distributions figure"
    assert _shown(page, figures) == len(ORDERED)
    before = page.run("document.querySelector('#distribution-7 svg').clientWidth")
    page.pick("select[data-picks=distributions]", "distribution-7")
    assert _shown(page, figures) == 1
    assert _shown(page, "#distribution-7") == 1
    assert page.run("document.querySelector('#distribution-7 svg').clientWidth") > 1.5 * before
    page.pick("select[data-picks=distributions]", "")
    assert _shown(page, figures) == len(ORDERED)


def test_the_picker_of_losses_changes_the_chart(page: Page) -> None:
    assert _shown(page, "#loss figure") == 1
    page.pick("select[data-picks=loss]", "columns-mse")
    assert _shown(page, "#loss figure") == 1
    assert _shown(page, "#columns-mse") == 1


def test_the_filter_filters(page: Page) -> None:
    page.type("#filter", "INCOME")
    rows = "[...document.querySelectorAll('#measure-table tbody tr')].filter(r => !r.hidden)"
    own = sum(m["column"] == "income" for m in example_run()["measures"])
    assert page.run(f"{rows}.length") == own > 3
    assert page.run(f"{rows}.every(r => r.cells[1].textContent === 'income')")
    assert page.run("document.getElementById('found').value").startswith(f"{own} of ")
    page.type("#filter", " nothing")
    assert page.run(f"{rows}.length") == 0


def test_the_table_sorts_both_ways(page: Page) -> None:
    values = (
        "[...document.querySelectorAll('#measure-table tbody tr')]"
        ".map(r => Number(r.cells[2].dataset.number))"
    )
    button = "#measure-table th:nth-child(3) button"
    page.click(button)
    up = page.run(values)
    assert up == sorted(up)
    page.click(button)
    assert page.run(values) == sorted(up, reverse=True)
    head = "document.querySelector('#measure-table th:nth-child(3)').getAttribute('aria-sort')"
    assert page.run(head) == "descending"


def test_a_point_of_the_map_tells_its_cell_by_mouse_and_by_keyboard(page: Page) -> None:
    page.click(".point[data-cell='13']")
    chosen = "document.getElementById('chosen').innerText"
    assert "k=20 centroid refined" in page.run(chosen)
    assert page.run("document.querySelectorAll('.kept').length") == 1
    page.run("document.querySelector(\".point[data-cell='0']\").focus()")
    page.press("Enter", 13)
    assert NASTY in page.run(chosen)
    assert page.run("document.querySelector('.kept').dataset.cell") == "0"


def test_a_measure_leads_to_its_word(page: Page) -> None:
    page.click("#measure-table a[href='#word-il']")
    page.wait_for("document.getElementById('word-il').open")
    assert "variance" in page.run("document.getElementById('word-il').innerText")


def test_the_numbers_behind_a_chart_open(page: Page) -> None:
    table = "#class-size-chart table"
    assert page.run(f"document.querySelector({table!r}).checkVisibility()") is False
    page.click("#class-size-chart summary")
    assert page.run(f"document.querySelector({table!r}).checkVisibility()")


def test_the_numbers_can_be_saved(page: Page) -> None:
    page.run("URL.createObjectURL = (blob) => { window.saved = blob.size; return '#verdict'; }")
    page.click("#save")
    assert page.run("window.saved") > 1000


def _colours(page: Page) -> tuple[str, str]:
    style = "getComputedStyle(document.body)"
    return str(page.run(f"{style}.backgroundColor")), str(page.run(f"{style}.color"))


def _brightness(colour: str) -> float:
    return sum(int(part) for part in colour[4:-1].split(",")) / 3


def test_dark_mode_turns_the_page_and_the_charts(page: Page) -> None:
    bar = "getComputedStyle(document.querySelector('#class-size-chart rect')).fill"
    light, light_bar = _colours(page), page.run(bar)
    page.media("dark")
    dark = _colours(page)
    assert _brightness(light[0]) > 200 > 60 > _brightness(light[1])
    assert _brightness(dark[0]) < 60 < 200 < _brightness(dark[1])
    assert page.run(bar) != light_bar


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(page: Page, width: int) -> None:
    page.size(width, 800)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("document.querySelector('nav').offsetHeight") > 20


def test_paper_has_no_buttons(page: Page) -> None:
    page.media("dark", "print")
    assert _shown(page, "nav") == 0
    assert _shown(page, ".picker") == 0
    assert _brightness(_colours(page)[0]) == 255
    assert _shown(page, "#distributions figure") == len(ORDERED)


@pytest.mark.parametrize("status", ["refused", "ok"])
def test_small_runs_open_as_well(page: Page, tmp_path: Path, status: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(render({"run_id": "r", "status": status, "measures": []}), encoding="utf-8")
    page.navigate(path.as_uri())
    assert page.run("document.querySelector('h1').textContent") in ("Refused", "Measured")

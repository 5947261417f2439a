"""A pytest plugin: in CI (`CI=true`) a skipped test is a failed test.

What a machine lacks (data sets, spark-submit) makes tests skip at home, with the reason. In CI it
is there, so a skip means that something went unproved. Only the browser may be missing.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

NO_BROWSER = "no browser"  # how the one excused reason begins
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _failed_if_skipped((yield))


def _failed_if_skipped(report: Report) -> Report:
    if report.skipped and os.environ.get("CI") == "true" and isinstance(report.longrepr, tuple):
        file, line, reason = report.longrepr
        reason = reason.removeprefix("Skipped: ")
        if not reason.startswith(NO_BROWSER):
            report.outcome = "failed"
            report.longrepr = f"{file}:{line}: skipped, and CI=true: {reason}"
    return report

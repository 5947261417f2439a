"""Results of a run -> one self-contained HTML page that a privacy officer likes to read.

words     what each measure means          numbers   how numbers are written
shown     what may be shown at all         counts    withheld where fewer than k
story     verdict and sentences
svg       axes, bars, text                 charts    the shapes of charts
figures, risk_figures   a part of the run -> a chart with its table
render    all of it -> HTML                files     report.json -> report.html
"""

from sparkanon.report.counts import shown_count
from sparkanon.report.files import write_report
from sparkanon.report.render import render
from sparkanon.report.run_report import REPORT_VERSION, RunReport

__all__ = ["REPORT_VERSION", "RunReport", "render", "shown_count", "write_report"]

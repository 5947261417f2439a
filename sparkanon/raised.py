"""Where an unexpected error was raised, without its text, which may hold a cell."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from types import FrameType

_OURS = Path(__file__).resolve().parent
# The text of `raised_at` from an executor, inside the error that Spark raises on the driver.
_REPORTED = re.compile(
    r"sparkanon\.errors\.KernelError: "
    r"([\w.]+ at sparkanon/[\w./-]+:\d+ in [\w.<>]+(?: \(from [\w.<>]+\))?)"
)
_FRAME = re.compile(r'^ *File "[^"\n]*/sparkanon/([\w./-]+\.py)", line (\d+), in ([\w<>]+)$', re.M)
_TYPE = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|ArrowInvalid))(?=:|$)", re.M)


def raised_at(error: BaseException) -> str:
    """The error's type, the innermost line of ours, and the library's function it called."""
    on_executor = _from_executor(error)
    if on_executor is not None:
        return on_executor
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [i for i, (frame, _) in enumerate(frames) if _is_ours(frame)]
    named = _type_of(error)
    if not own:
        return f"{named} (from {_function(frames[-1][0])})" if frames else named
    frame, line = frames[own[-1]]
    path = Path(frame.f_code.co_filename).resolve().relative_to(_OURS)
    place = f"{named} at sparkanon/{path.as_posix()}:{line} in {frame.f_code.co_name}"
    inner = frames[own[-1] + 1 :]
    return f"{place} (from {_function(inner[-1][0])})" if inner else place


def _from_executor(error: BaseException) -> str | None:
    """The same for an error of a Python worker of Spark; None if it is no such error."""
    if type(error).__name__ not in ("PythonException", "Py4JJavaError", "SparkException"):
        return None
    text = str(error)
    by_us = _REPORTED.search(text)
    if by_us is not None:
        return by_us[1]
    frames = list(_FRAME.finditer(text))
    if not frames:
        return None
    kind = _TYPE.search(text, frames[-1].end())
    path, line, function = frames[-1].groups()
    named = kind[1].removeprefix("builtins.") if kind else "an error"
    return f"{named} at sparkanon/{path}:{line} in {function}"


def _type_of(error: BaseException) -> str:
    kind = type(error)
    named = kind.__qualname__ if kind.__module__ == "builtins" else _dotted(kind)
    condition = getattr(error, "getCondition", lambda: None)()
    return f"{named} [{condition}]" if condition else named


def _dotted(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_ours(frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).resolve().is_relative_to(_OURS)


def _function(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}"

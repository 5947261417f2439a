"""What can go wrong, each with the exit code the command line promises.

Messages name policy paths, columns and counts. They never hold a cell value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_SHOWN = 20  # problems in one message
_LONGEST_VALUE, _LONGEST_PATH, _LONGEST_MESSAGE = 80, 200, 2_000  # characters


@dataclass(frozen=True)
class Problem:
    """One thing to change: where it stands (a policy path or a column) and what is wrong."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def counted(n: int, one: str, several: str = "") -> str:
    """A number with its noun in the right form; `several` is `one` with an s if not given."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def short(text: str, most: int = _LONGEST_VALUE) -> str:
    """The beginning of a text that somebody wrote, who may have written a megabyte."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def is_text(text: str) -> bool:
    """Whether a text can be written: half a character, which YAML can say, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Without characters that a terminal obeys or that turn text around: `\\x1b` instead."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


def shown(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Problems as people and schedulers see them: the first few, and each of limited length."""
    first = tuple(
        Problem(
            printable(short(one.path, _LONGEST_PATH)),
            printable(short(one.message, _LONGEST_MESSAGE)),
        )
        for one in problems[:MOST_SHOWN]
    )
    more = len(problems) - len(first)
    return (*first, Problem("", f"and {more} more")) if more else first


class SparkanonError(Exception):
    """Base of every error that sparkanon raises on purpose."""

    exit_code = 1

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems)
        if isinstance(problems, Problem):
            problems = (problems,)
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(map(str, shown(self.problems))))


class PolicyError(SparkanonError):
    """The policy is wrong by itself: unknown keys, impossible values, bad YAML."""

    exit_code = 2


class InputError(SparkanonError):
    """The table and the policy do not fit, or the table cannot be read."""

    exit_code = 2


class GateError(SparkanonError):
    """A gate stopped the publication; whatever was published before still stands."""

    exit_code = 3


class VerificationError(GateError):
    """The staged table does not keep a promise, so it was thrown away."""


class KernelError(SparkanonError):
    """A kernel failed on an executor; the cause is named by type and place only."""

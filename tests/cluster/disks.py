"""Machines that share no disk, on one machine: each in a mount namespace of its own.

What is hidden from a machine is covered by an empty file system in memory that only it sees;
of that, folders that it needs to start at all are shown, read only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from daemons import Daemon

# A shell keeps what is to be shown open while it is covered, then shows it from there.
_COVER = """set -e
IFS=:
number=3
for kept in $KEPT; do eval "exec $number<\"$kept\""; number=$((number + 1)); done
for hidden in $HIDDEN; do mount -t tmpfs -o mode=1777 tmpfs "$hidden"; done
number=3
for kept in $KEPT; do
    mkdir -p "$kept"
    mount --no-canonicalize --bind "/proc/self/fd/$number" "$kept"
    mount -o remount,bind,ro "$kept"
    number=$((number + 1))
done
echo covered
exec sleep infinity
"""


def can_hide() -> bool:
    """Whether this user may make mount namespaces."""
    return os.geteuid() == 0


class Machine(Daemon):
    """Its disk lives as long as this does, whatever becomes of the processes that use it."""

    def __init__(
        self, name: str, log: Path, hidden: Sequence[Path], kept: Sequence[Path] = ()
    ) -> None:
        self._hidden = _outermost(hidden)
        shown = [one for one in _outermost(kept) if any(map(one.is_relative_to, self._hidden))]
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _COVER]
        places = {"HIDDEN": self._hidden, "KEPT": shown}
        env = {key: ":".join(map(str, paths)) for key, paths in places.items()}
        super().__init__(name, command, log, env)
        self.wait(self.said("covered"))
        self._shown = shown

    def inside(self, command: Sequence[str]) -> list[str]:
        """A command for a process on this machine."""
        return ["nsenter", f"--mount=/proc/{self.pid}/ns/mnt", "--wd=/", *command]

    @property
    def disk(self) -> Path:
        """Its folder for temporary files, as seen from here."""
        return Path(f"/proc/{self.pid}/root/tmp")

    def files(self) -> Iterator[Path]:
        """All files on its own disk, as seen from here."""
        root = Path(f"/proc/{self.pid}/root")
        shown = [root / one.relative_to("/") for one in self._shown]
        for hidden in self._hidden:
            for folder, folders, names in os.walk(root / hidden.relative_to("/")):
                folders[:] = [one for one in folders if Path(folder, one) not in shown]
                yield from (Path(folder, name) for name in names)


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """Without those that lie in another one."""
    real = {path.resolve() for path in paths}
    return sorted(path for path in real if not real & set(path.parents))

"""What publishing needs of the store that holds a file or a folder, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self


class Place(Protocol):
    """A file or folder on a store, with the names of `pathlib` where the meaning is the same.

    `Posix` is one on the disks that this machine sees, `Hadoop` (engine/session) one that Spark
    reaches through Hadoop: HDFS and object stores. Both fail with the same kinds of OSError, whose
    `strerror` can be shown.
    """

    # --- names

    @property
    def name(self) -> str: ...

    @property
    def parent(self) -> Self: ...

    @property
    def url(self) -> str:
        """For Spark's readers and writers, whatever its default file system is."""

    def __truediv__(self, name: str) -> Self: ...

    def with_name(self, name: str) -> Self: ...

    def seen_from(self, folder: Place) -> str:
        """A relative path, because another host may have mounted the store elsewhere."""

    def is_inside(self, folder: Place) -> bool:
        """Whether this is that folder or lies in it."""

    # --- the store

    @property
    def has_folders(self) -> bool:
        """Whether there are folders: with modes, and renamed in one step.

        An object store has only objects with long names, and no modes.
        """

    def disk(self) -> object:
        """Renames work between places of one disk."""

    def now(self) -> float:
        """The time by the clock of the store, in a folder that exists."""

    # --- looking

    def is_there(self) -> bool: ...

    def is_dir(self) -> bool: ...

    def is_file(self) -> bool: ...

    def is_symlink(self) -> bool: ...

    def is_mount(self) -> bool: ...

    def is_own(self) -> bool:
        """Whether this is a folder of the user that runs this process."""

    def iterdir(self) -> Iterator[Self]: ...

    def sizes(self) -> dict[str, int]:
        """The files in a folder and in those inside, by their paths in it."""

    def identity(self) -> str:
        """Of a folder, kept by renames, if the store has such a thing."""

    # --- small files

    def start(self, most: int) -> str:
        """The first characters of a text, at most so many."""

    def write_text(self, data: str, encoding: str) -> int | None: ...

    def create(self, data: bytes) -> None:
        """Write a new file for the owner alone; FileExistsError if there is one."""

    def replace_text(self, text: str, *, shown: bool = False) -> None:
        """Write a file that readers see as it was or as it will be; as `write_atomically`."""

    def unlink(self) -> None: ...

    def renew(self, token: bytes) -> bool:
        """Touch the file of a lease; False if it is gone, or somebody else's."""

    def touched(self) -> float:
        """When this was last touched, by the clock of the store."""

    # --- folders

    def mkdir(self, mode: int = ..., parents: bool = ..., exist_ok: bool = ...) -> None: ...

    def make_folder(self, *, shown: bool = False) -> None:
        """With its parents, those that are missing for the owner alone, unless it is `shown`."""

    def rmdir(self) -> None:
        """Remove an empty folder."""

    def remove_tree(self) -> None: ...

    def rename(self, target: Self) -> Self: ...

    def move(self, to: Self) -> None:
        """Rename to a name that is free; FileExistsError if it is not."""

    def exchange(self, other: Self) -> bool:
        """Swap two folders in one step; False where the store cannot."""

    def open_up(self, beside: Self) -> None:
        """Give this folder and what is in it the permissions of what the user makes.

        `beside` is a private folder to try that in.
        """

    def close_up(self) -> None:
        """Take all permissions for others away from this folder and what is in it."""

    def try_to_write(self, name: str) -> None:
        """Really write a file of this name in this folder, or where the folder will be made.

        Permissions do not show that a disk is full or read only. Leaves nothing behind.
        """

    def sync(self) -> None:
        """See to it that renames in this folder outlast a loss of power."""

"""Finished cells of a sweep, kept so that they are not run again."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pyspark.sql import DataFrame

from sparkanon.engine.sql.rows import row_hash
from sparkanon.engine.stores.place import Place
from sparkanon.errors import InputError, Problem
from sparkanon.policy import Policy, read_seed

_LONGEST = 50_000_000  # characters of a cell


class Kept:
    """A folder with one file a finished cell, named by the digest of its policy.

    A cell counts as finished only for the table, the seed and the version of sparkanon that it
    was run with. Files hold table and seed as keyed hashes, so that whoever knows all rows but
    one cannot find the last by trial. The key is a file that only the owner can read.
    """

    def __init__(self, folder: Place) -> None:
        self.folder = folder
        self._key = ""
        self._table = ""

    def open(self, data: DataFrame) -> int:
        """Look at the whole table once (which also fills its cache); the number of rows."""
        self._key = self._read_key()
        key = row_hash(data.schema.fields)
        wanted = ("count(1)", f"bit_xor({key})", f"sum(shiftright({key}, 40))")
        ((rows, *sums),) = data.selectExpr(*wanted).collect()
        seen = ":".join(map(str, (rows, *sums, data.schema.simpleString())))
        self._table = hmac.new(self._key.encode(), seen.encode(), "sha256").hexdigest()
        return int(rows)

    def find(self, policy: Policy) -> dict[str, Any] | None:
        """What was measured under this policy before, if everything else is still the same."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            found = json.loads(self._path(policy).start(_LONGEST))
            if isinstance(found, dict) and found.get("made_from") == self._made_from(policy):
                result = found.get("result")
                return result if isinstance(result, dict) else None
        return None

    def keep(self, policy: Policy, result: dict[str, Any]) -> None:
        content = {"made_from": self._made_from(policy), "result": result}
        self._path(policy).replace_text(json.dumps(content, indent=2, allow_nan=False) + "\n")

    def _path(self, policy: Policy) -> Place:
        return self.folder / f"{policy.digest()}.json"

    def _made_from(self, policy: Policy) -> dict[str, Any]:
        seed = read_seed(policy.seed)
        secret = None if seed.drawn else seed.commitment(self._key)
        return {"table": self._table, "seed": secret, "sparkanon": _version()}

    def _read_key(self) -> str:
        path = self.folder / ".key"
        try:
            self.folder.parent.make_folder(shown=True)
            self.folder.make_folder()
            with contextlib.suppress(FileExistsError):
                path.create(secrets.token_hex(32).encode())
            return path.start(_LONGEST)
        except OSError as error:
            text = f"cannot write in {self.folder}: {error.strerror}"
            raise InputError(Problem("--out", text)) from None


def _version() -> str | None:
    try:
        return version("sparkanon")
    except PackageNotFoundError:  # run from a folder
        return None

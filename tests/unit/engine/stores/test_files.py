"""Publication: what stands at the output is replaced only if it is ours, and never lost."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from crashes import die_in, long_ago

from sparkanon.atomic import write_atomically
from sparkanon.engine.stores import staging as module
from sparkanon.engine.stores import swap
from sparkanon.engine.stores.folders import check_replaceable, check_writable
from sparkanon.engine.stores.lease import Lease
from sparkanon.engine.stores.listing import FILES, MANIFEST, foreign_files, list_files
from sparkanon.engine.stores.posix import Posix, posix
from sparkanon.engine.stores.staging import Staging
from sparkanon.engine.sweep.kept import Kept
from sparkanon.errors import InputError, SparkanonError


@pytest.fixture
def tmp_path(tmp_path: Path) -> Posix:
    return Posix(tmp_path)


@pytest.fixture(params=["with renameat2", "with plain renames"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "with plain renames":
        monkeypatch.setattr(swap, "_renameat2", lambda *_: False)


def a_release(folder: Path, text: str, *more: str) -> Path:
    folder.mkdir(parents=True)
    for name in ("part-0.parquet", "_SUCCESS", MANIFEST, *more):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    list_files(folder)
    return folder


def content(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_release_replaces_nothing_and_an_older_one(tmp_path: Path, either_way: None) -> None:
    for text in ("first", "second", "third"):
        with Staging(tmp_path / "deep" / "out") as staging:
            staging.publish(a_release(staging.table, text))
        assert content(tmp_path / "deep" / "out")["part-0.parquet"] == text
        assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_an_empty_folder_is_replaced(tmp_path: Path, either_way: None) -> None:
    (tmp_path / "out").mkdir()
    with Staging(tmp_path / "out") as staging:
        staging.publish(a_release(staging.table, "new"))
    assert content(tmp_path / "out")["part-0.parquet"] == "new"


def test_a_folder_that_appears_during_the_run_stays(tmp_path: Path, either_way: None) -> None:
    out = tmp_path / "out"
    with Staging(out) as staging:
        a_release(staging.table, "new")
        out.mkdir()
        (out / "thesis.txt").write_text("the only copy")
        with pytest.raises(InputError, match=r"output\.path: .* is no release of sparkanon; move"):
            staging.publish(staging.table)
    assert content(out) == {"thesis.txt": "the only copy"}
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_that_appears_at_the_moment_of_the_swap_is_given_back(
    tmp_path: Path, either_way: None
) -> None:
    out = a_release(tmp_path / "out", "old")

    def check(found: Path, place: Path) -> None:
        check_replaceable(found, place)
        if found == place:  # looked at, and in the next moment it is another
            out.rename(tmp_path / "moved away")
            out.mkdir()
            (out / "thesis.txt").write_text("the only copy")

    with pytest.raises(InputError, match="no release"), Staging(out, check=check) as staging:
        staging.publish(a_release(staging.table, "new"))
    assert content(out) == {"thesis.txt": "the only copy"}
    assert content(tmp_path / "moved away")["part-0.parquet"] == "old"


def test_a_link_that_appears_is_not_replaced(tmp_path: Path, either_way: None) -> None:
    elsewhere = a_release(tmp_path / "elsewhere", "old")
    with Staging(tmp_path / "out") as staging:
        (tmp_path / "out").symlink_to(elsewhere)
        a_release(staging.table, "new")
        with pytest.raises(InputError, match="no release"):
            staging.publish(staging.table)
    assert (tmp_path / "out").is_symlink()
    assert content(elsewhere)["part-0.parquet"] == "old"


@pytest.mark.parametrize("name", ["notes.txt", "city=A/notes.txt", "part-extra.parquet"])
def test_files_added_by_hand_stay(tmp_path: Path, either_way: None, name: str) -> None:
    out = a_release(tmp_path / "out", "old", "city=A/part-0.csv")
    with Staging(out) as staging:
        a_release(staging.table, "new")
        (out / name).write_text("by hand")
        with pytest.raises(InputError) as caught:
            staging.publish(staging.table)
    text = str(caught.value)
    assert "holds 1 file that did not come with its release, or was changed since" in text
    assert Path(name).name in text
    assert "city=" not in text, "the name of a partition is a cell"
    assert content(out)[name] == "by hand"
    assert content(out)["part-0.parquet"] == "old"
    (out / name).unlink()
    with Staging(out) as staging:
        staging.publish(a_release(staging.table, "new"))
    assert content(out)["part-0.parquet"] == "new"


def test_a_release_without_a_list_is_known_by_its_names(tmp_path: Path) -> None:
    names = ["city=A/age=3/part-0.csv", "city=A/age=3/.part-0.csv.crc", "._SUCCESS.crc"]
    for name in (*names, MANIFEST, "_SUCCESS"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert foreign_files(tmp_path) == []
    check_replaceable(tmp_path, tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("notes.txt", "city=A/thesis.csv", "sub/part-0.csv"):
        (tmp_path / name).touch()
    assert foreign_files(tmp_path) == ["city=A/thesis.csv", "notes.txt", "sub/part-0.csv"]


def test_the_list_of_files_holds_names_and_sizes_and_nothing_else(tmp_path: Path) -> None:
    out = a_release(tmp_path / "out", "4711")
    names = ["_SUCCESS", MANIFEST, "part-0.parquet"]
    assert json.loads((out / FILES).read_text()) == {"files": dict.fromkeys(names, 4)}
    for text in ('{"files": [{}]}', '{"files": ["part-0.parquet"]}', "[]", "7"):
        (out / FILES).write_text(text)
        assert len(foreign_files(out)) == 3, "who changed the list must look at the files"


def test_a_file_edited_by_hand_is_not_replaced(tmp_path: Path, either_way: None) -> None:
    out = a_release(tmp_path / "out", "old")
    (out / "part-0.parquet").write_text("corrected by hand")
    with pytest.raises(InputError, match=r"changed since \(part-0.parquet\)"):
        Staging(out).prepare()
    with Staging(out) as staging, pytest.raises(InputError, match="changed since"):
        staging.publish(a_release(staging.table, "new"))
    assert content(out)["part-0.parquet"] == "corrected by hand"


def crash_between_two_renames(output: Path, where: Path) -> Path:
    a_release(output, "the old release")
    die_in(
        "swap._renameat2 = lambda *_: False\n"
        f"staging = Staging(Path({str(output)!r})).__enter__()\n"
        "staging.table.mkdir()\n"
        "rename = os.rename\n"
        "os.rename = lambda one, to: die() if 'new-' in str(one) "
        f"and not Path({str(output)!r}).exists() else rename(one, to)\n"
        "staging.publish(staging.table)",
        where,
    )
    assert not output.exists()
    (left,) = output.parent.glob(".sparkanon-*")
    return left


def test_an_old_release_is_given_back_on_whatever_host(tmp_path: Path, either_way: None) -> None:
    left = crash_between_two_renames(tmp_path / "here" / "out", tmp_path)
    long_ago(left)
    (tmp_path / "here").rename(tmp_path / "mounted elsewhere")
    out = tmp_path / "mounted elsewhere" / "out"
    Staging(out).mend()
    assert content(out)["part-0.parquet"] == "the old release"
    assert list(out.parent.iterdir()) == [out]


def test_an_empty_folder_does_not_keep_an_old_release_away(
    tmp_path: Path, either_way: None
) -> None:
    """Whoever mounts or makes the output before each run leaves an empty folder there."""
    left = crash_between_two_renames(tmp_path / "out", tmp_path)
    long_ago(left)
    (tmp_path / "out").mkdir()
    Staging(tmp_path / "out").mend()
    assert content(tmp_path / "out")["part-0.parquet"] == "the old release"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_somebody_elses_folder_does_not_cost_the_old_release(
    tmp_path: Path, either_way: None
) -> None:
    out = tmp_path / "out"
    left = crash_between_two_renames(out, tmp_path)
    (left / "pairs").mkdir()
    long_ago(left)
    out.mkdir()
    (out / "thesis.txt").write_text("by hand")
    for _ in range(2):
        with pytest.warns(UserWarning, match="goes back there when the place is free"):
            Staging(out).mend()
        (left,) = tmp_path.glob(".sparkanon-*")
        assert content(left / "old")["part-0.parquet"] == "the old release"
        assert not (left / "pairs").exists(), "raw rows are gone all the same"
        assert content(out) == {"thesis.txt": "by hand"}
        long_ago(left)
    out.rename(tmp_path / "moved away")
    Staging(out).mend()
    assert content(out)["part-0.parquet"] == "the old release"
    assert not left.exists()


def test_a_run_that_fails_between_its_renames_keeps_what_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = a_release(tmp_path / "out", "the old release")
    monkeypatch.setattr(Posix, "exchange", lambda *_: False)

    def appears(found: Path, output: Path) -> None:
        if found != output:  # the second look, between the two renames
            output.mkdir(exist_ok=True)
            (output / "thesis.txt").write_text("by hand")
        check_replaceable(found, output)

    with (
        pytest.warns(UserWarning, match="goes back there when the place is free"),
        pytest.raises(InputError, match="no release"),
        Staging(out, check=appears) as staging,
    ):
        staging.publish(a_release(staging.table, "new"))
    (left,) = tmp_path.glob(".sparkanon-*")
    assert content(left / "old")["part-0.parquet"] == "the old release"
    assert not (left / "table").exists()
    assert content(out) == {"thesis.txt": "by hand"}


def test_a_list_of_files_that_is_nested_endlessly_is_no_list(tmp_path: Path) -> None:
    out = a_release(tmp_path / "out", "old")
    (out / FILES).write_text("[" * 100_000)
    assert "part-0.parquet" in foreign_files(out)


def test_a_folder_by_its_url_is_the_folder() -> None:
    assert posix("file:///lake/runs") == posix("file:/lake/runs") == Path("/lake/runs")
    assert posix("runs") == Path.cwd() / "runs"
    assert posix("runs").url == f"file://{Path.cwd()}/runs"


def test_an_old_release_goes_back_to_its_own_place(tmp_path: Path) -> None:
    left = crash_between_two_renames(tmp_path / "release-2", tmp_path)
    long_ago(left)
    with Staging(tmp_path / "release"):
        pass
    assert list(tmp_path.iterdir()) == [left]
    with Staging(tmp_path / "release-2"):
        assert (tmp_path / "release-2").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["release-2"]


def test_a_dry_run_gives_nothing_back_and_loses_nothing(tmp_path: Path) -> None:
    left = crash_between_two_renames(tmp_path / "out", tmp_path)
    with Staging(tmp_path / "out", dry_run=True):  # does not wait either
        long_ago(left)
    with Staging(tmp_path / "out", dry_run=True):
        pass
    (left,) = tmp_path.iterdir()
    assert content(left / "old")["part-0.parquet"] == "the old release"


def test_a_dry_run_clears_what_is_nothing_but_raw_rows(tmp_path: Path) -> None:
    die_in(f"Staging(Path({str(tmp_path / 'out')!r})).__enter__()", tmp_path)
    (left,) = tmp_path.iterdir()
    long_ago(left)
    with Staging(tmp_path / "out", dry_run=True):
        assert not left.exists()


@pytest.mark.parametrize("lives", [True, False])
def test_a_run_waits_for_one_between_its_renames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lives: bool
) -> None:
    out = tmp_path / "out"
    left = crash_between_two_renames(out, tmp_path)
    seen: list[bool] = []

    def sleep(seconds: float) -> None:
        seen.append(out.exists())
        if len(seen) == 3:
            if lives:
                (new,) = left.glob("new-*")
                new.rmdir()
                os.rename(a_release(new, "the new release"), out)
            else:
                long_ago(left)

    monkeypatch.setattr(module, "sleep", sleep)
    with Staging(out):
        expected = "the new release" if lives else "the old release"
        assert content(out)["part-0.parquet"] == expected
        assert left.exists() == lives
    assert seen == [False] * 3


def test_a_run_that_wakes_up_while_it_is_cleared_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had been judged dead, and takes the old release in its hands a moment later."""
    monkeypatch.setattr(swap, "_renameat2", lambda *_: False)
    out = a_release(tmp_path / "out", "the old release")
    sleeper = Staging(out).__enter__()
    a_release(sleeper.table, "new")
    long_ago(sleeper.path)
    remove = module.remove

    def wakes_up(folder: Path) -> None:
        monkeypatch.setattr(module, "remove", remove)
        with pytest.raises(SparkanonError, match="another run took"):
            sleeper.publish(sleeper.table)
        with contextlib.suppress(OSError):  # as if it had been one step further
            os.rename(out, sleeper.path / "old")
        remove(folder)

    monkeypatch.setattr(module, "remove", wakes_up)
    Staging(out).mend()
    sleeper.__exit__()
    assert content(out)["part-0.parquet"] == "the old release"
    assert list(tmp_path.iterdir()) == [out]


def crash_after_an_exchange(out: Path, where: Path) -> Path:
    """With somebody's folder that had got there in the moment before."""
    a_release(out, "the old release")
    die_in(
        "exchange = Path.exchange\n"
        "def swapped(one, other):\n"
        "    other.rename(other.with_name('moved away'))\n"
        "    other.mkdir()\n"
        "    (other / 'thesis.txt').write_text('the only copy')\n"
        "    exchange(one, other)\n"
        "    die()\n"
        "Path.exchange = swapped\n"
        f"staging = Staging(Path({str(out)!r})).__enter__()\n"
        "staging.table.mkdir()\n"
        "(staging.table / '_sparkanon.json').write_text('{}')\n"
        "staging.publish(staging.table)",
        where,
    )
    (left,) = out.parent.glob(".sparkanon-*")
    assert (out / MANIFEST).is_file()
    return left


def test_a_crash_before_the_second_look_gives_somebodys_folder_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = crash_after_an_exchange(out, tmp_path)
    long_ago(left)
    Staging(out).mend()
    assert content(out) == {"thesis.txt": "the only copy"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["moved away", "out"]
    with pytest.raises(InputError, match="no release"):
        Staging(out).prepare()


def test_a_later_release_is_not_given_for_somebodys_folder(tmp_path: Path) -> None:
    """Of a run that was past its first look when the other one was killed."""
    out = tmp_path / "out"
    left = crash_after_an_exchange(out, tmp_path)
    out.rename(tmp_path / "half published")
    a_release(out, "later")
    long_ago(left)
    with pytest.warns(UserWarning, match="goes back there when the place is free"):
        Staging(out).mend()
    assert content(out)["part-0.parquet"] == "later"
    (left,) = tmp_path.glob(".sparkanon-*")
    (kept,) = left.glob("new-*")
    assert content(kept) == {"thesis.txt": "the only copy"}


def test_a_release_that_was_replaced_does_not_come_back(tmp_path: Path) -> None:
    """The run was killed when all was done but for removing what it had replaced."""
    out = a_release(tmp_path / "out", "an older release")
    die_in(
        "swap._renameat2 = lambda *_: False\n"
        "module.remove = die\n"
        f"staging = Staging(Path({str(out)!r})).__enter__()\n"
        "staging.table.mkdir()\n"
        "staging.publish(staging.table)",
        tmp_path,
    )
    (left,) = tmp_path.glob(".sparkanon-*")
    assert (left / "old").is_dir()
    out.rename(tmp_path / "archive")
    long_ago(left)
    Staging(out).mend()
    assert not out.exists()
    assert not left.exists()


def test_a_place_that_nothing_can_be_written_to_is_refused_before_any_work(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    for out in (
        tmp_path / "file" / "out",
        tmp_path / ("r" * 300),
        Posix(f"{tmp_path}/{'/'.join(['r' * 200] * 25)}/out"),
    ):
        with pytest.raises(InputError, match="cannot write in "):
            Staging(out).prepare()
    with pytest.raises(InputError, match="is a mount point"):
        Staging(Posix("/proc")).prepare()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_is_noticed_before_any_work_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        for where in (tmp_path / "runs", tmp_path):
            with pytest.raises(InputError, match=r"runs: cannot write in .*: No space left"):
                check_writable(where, "runs")
    check_writable(tmp_path / "runs", "runs")
    monkeypatch.setattr(Lease, "take", full)
    with pytest.raises(InputError, match="No space left"), Staging(tmp_path / "out"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_nowhere_is_written_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "runs").symlink_to(tmp_path / "not" / "yet")
    assert posix(str(tmp_path / "runs")) == tmp_path / "not" / "yet"
    check_writable(posix(str(tmp_path / "runs")), "runs")


def test_two_runs_that_publish_at_once_leave_one_whole_release(
    tmp_path: Path, either_way: None
) -> None:
    out = a_release(tmp_path / "out", "old")
    failures: list[BaseException] = []
    published: list[str] = []

    def run(text: str) -> None:
        for _ in range(20):
            try:
                with Staging(out) as staging:
                    staging.publish(a_release(staging.table, text))
                published.append(text)
            except BaseException as error:
                failures.append(error)

    runs = [threading.Thread(target=run, args=(text,)) for text in ("one", "two")]
    for thread in runs:
        thread.start()
    until = time.monotonic() + 60
    for thread in runs:
        thread.join(until - time.monotonic())
    assert failures == []
    assert published
    (held,) = set(content(out).values()) - {(out / FILES).read_text()}
    assert held in published, "neither the old release nor a mixture"
    assert list(tmp_path.iterdir()) == [out]


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {str(p.relative_to(folder)): stat.S_IMODE(p.stat().st_mode) for p in folder.rglob("*")}


def test_what_is_written_is_the_owners_alone_unless_it_is_shown(
    tmp_path: Path, usual_umask: None
) -> None:
    write_atomically(tmp_path / "runs" / "1" / "manifest.json", "{}")
    write_atomically(tmp_path / "sweep" / "sweep.csv", "k", shown=True)
    Kept(tmp_path / "sweep" / "cells")._read_key()
    (tmp_path / "theirs").mkdir(mode=0o755)
    for text in ("old", "new"):
        write_atomically(tmp_path / "theirs" / "report.json", text)
    assert (tmp_path / "theirs" / "report.json").read_text() == "new"
    assert modes(tmp_path) == {
        "runs": 0o700,
        "runs/1": 0o700,
        "runs/1/manifest.json": 0o600,
        "sweep": 0o755,
        "sweep/sweep.csv": 0o644,
        "sweep/cells": 0o700,
        "sweep/cells/.key": 0o600,
        "theirs": 0o755,  # whoever made it said so
        "theirs/report.json": 0o600,
    }

"""The call store: durable before it returns, one writer, damage is a miss, exports merge and diff."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from vivavoce.errors import DataError
from vivavoce.models.__main__ import main
from vivavoce.models.failures import StoreError
from vivavoce.models.rows import Finished
from vivavoce.models.store import CallStore, store_file, store_root


def call(number: int, response: str = '{"a": 1}') -> Finished:
    request = f'{{"n":{number}}}'.encode()
    key = hashlib.sha256(request).hexdigest()
    return Finished(key=key, request=request, response=response.encode(), seconds=0.25, finish="stop", prompt_tokens=number)


async def fill(path: Path, *calls: Finished) -> None:
    with CallStore(path) as store:
        await asyncio.gather(*(store.put(one) for one in calls))


async def test_what_was_put_is_there_at_once_and_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calls.sqlite"
    with CallStore(path) as store:
        assert store.get("nothing") is None
        await store.put(call(1))
        kept = store.get(call(1).key)
        assert kept is not None and kept.response == b'{"a": 1}' and kept.seconds == 0.25
    with CallStore(path) as store:
        assert store.get(call(1).key) == kept
    with CallStore(path, readonly=True) as store:
        assert store.get(call(1).key) == kept
        with pytest.raises(StoreError, match="reading only"):
            await store.put(call(2))


async def test_thousands_of_puts_from_many_tasks_share_commits(tmp_path: Path) -> None:
    with CallStore(tmp_path / "s.sqlite") as store:
        begun = time.perf_counter()
        await asyncio.gather(*(store.put(call(number)) for number in range(3000)))
        assert time.perf_counter() - begun < 10
        assert len(list(store.keys())) == 3000


def test_puts_from_many_threads(tmp_path: Path) -> None:
    import threading

    with CallStore(tmp_path / "s.sqlite") as store:

        async def some(first: int) -> None:
            await asyncio.gather(*(store.put(call(first + number)) for number in range(50)))

        threads = [threading.Thread(target=lambda first=first: asyncio.run(some(first))) for first in range(0, 400, 50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(list(store.keys())) == 400


async def test_a_put_whose_task_is_stopped_is_stored_all_the_same(tmp_path: Path) -> None:
    with CallStore(tmp_path / "s.sqlite") as store:
        task = asyncio.create_task(store.put(call(1)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    with CallStore(tmp_path / "s.sqlite") as store:
        assert store.get(call(1).key)


@pytest.mark.parametrize(
    "damage", ["response = '{\"a\": 2}'", "response = x'ff00'", "crc = 7", "seconds = 'x'", "response = ''"]
)
async def test_a_damaged_row_is_a_miss_with_a_warning_and_can_be_replaced(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s.sqlite"
    await fill(path, call(1), call(2))
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE calls SET {damage} WHERE key = ?", (call(1).key,))
    connection.close()
    with CallStore(path) as store, caplog.at_level(logging.WARNING):
        assert store.get(call(1).key) is None and store.get(call(2).key)
        assert call(1).key in caplog.text and "damaged" in caplog.text
        assert store.export_jsonl(tmp_path / "out.jsonl") == 1
        await store.put(call(1))
        assert store.get(call(1).key)


async def test_torn_pages_are_misses_not_crashes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "s.sqlite"
    await fill(path, *(call(number, '{"a": "' + "x" * 3000 + '"}') for number in range(40)))
    data = bytearray(path.read_bytes())
    data[40_000:60_000] = b"\xaa" * 20_000
    path.write_bytes(data)
    with CallStore(path) as store:
        found = sum(store.get(call(number).key) is not None for number in range(40))
    assert 0 < found < 40 and "counts as missing" in caplog.text


def test_a_file_that_is_no_store_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_bytes(b"not a database at all, but long enough to look at" * 50)
    with pytest.raises(StoreError, match="damaged"):
        CallStore(tmp_path / "s.sqlite")


def test_a_second_process_is_told_so_and_the_lock_dies_with_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    code = (
        "import time; from pathlib import Path; from vivavoce.models.store import CallStore; "
        f"s = CallStore(Path({str(path)!r})); print('open', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline() == b"open\n"
        with pytest.raises(StoreError, match=r"in use by another process.*VIVAVOCE_STORE"):
            CallStore(path)
        with CallStore(path, readonly=True) as reader:
            assert reader.get("x") is None, "a reader may look on"
        other.send_signal(signal.SIGKILL)
        other.wait()
        CallStore(path).close()


def test_kill_9_right_after_a_put_returned_loses_nothing(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import asyncio, os, signal, sys
        from pathlib import Path
        from vivavoce.models.store import CallStore, Finished
        async def main():
            store = CallStore(Path(sys.argv[1]))
            async def one(n):
                await store.put(Finished(key=f"k{n}", request=b"{}", response=b"{}", seconds=0.1, finish="stop"))
                os.write(1, f"k{n}\\n".encode())
                if n == 57:
                    os.kill(os.getpid(), signal.SIGKILL)
            async def worker(w):
                for n in range(w, 1000, 8):
                    await one(n)
            await asyncio.gather(*(worker(w) for w in range(8)))
        asyncio.run(main())
        """
    )
    path = tmp_path / "s.sqlite"
    done = subprocess.run([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -signal.SIGKILL
    told = done.stdout.decode().split()
    assert "k57" in told
    with CallStore(path) as store:
        assert set(told) <= set(store.keys()) and all(store.get(key) for key in told)


async def test_exports_are_sorted_equal_and_come_back(tmp_path: Path) -> None:
    await fill(tmp_path / "a.sqlite", *(call(number, f'{{"a":\n {number}.50}}') for number in range(20)))
    with CallStore(tmp_path / "a.sqlite") as store:
        assert store.export_jsonl(tmp_path / "a.jsonl") == 20
        store.export_jsonl(tmp_path / "a.jsonl.gz")
        time.sleep(1.1)
        store.export_jsonl(tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    text = (tmp_path / "a.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == text and len(text.splitlines()) == 20
    with CallStore(tmp_path / "new.sqlite") as store:
        assert store.import_jsonl(tmp_path / "a.jsonl.gz") == 20
        assert store.import_jsonl(tmp_path / "a.jsonl") == 0, "the same calls again are no conflict"
        store.export_jsonl(tmp_path / "c.jsonl")
    assert (tmp_path / "c.jsonl").read_bytes() == text
    with CallStore(tmp_path / "missing.sqlite", also=[tmp_path / "a.jsonl.gz"], readonly=True) as store:
        assert store.get(call(3).key) and store.get("x") is None
    assert not (tmp_path / "missing.sqlite").exists()


async def test_a_conflict_is_named_and_nothing_is_imported_until_one_chooses(tmp_path: Path) -> None:
    await fill(tmp_path / "a.sqlite", call(1, '{"a":1}'), call(2))
    await fill(tmp_path / "b.sqlite", call(1, '{"a":2}'), call(3))
    with CallStore(tmp_path / "b.sqlite") as store:
        store.export_jsonl(tmp_path / "b.jsonl")
    with CallStore(tmp_path / "a.sqlite") as store:
        with pytest.raises(DataError, match=call(1).key):
            store.import_jsonl(tmp_path / "b.jsonl")
        assert store.get(call(3).key) is None
        assert store.import_jsonl(tmp_path / "b.jsonl", conflicts="keep") == 1
        assert store.get(call(1).key).response == b'{"a":1}'  # type: ignore[union-attr]
        assert store.import_jsonl(tmp_path / "b.jsonl", conflicts="replace") == 0
        assert store.get(call(1).key).response == b'{"a":2}'  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not json", r"x\.jsonl:2: not a recorded call"),
        (b'{"key":"k"}', r"x\.jsonl:2: not a recorded call"),
        (
            b'{"key":"k","request":{"n":1},"response":{},"seconds":1.0,"finish":"stop","prompt_tokens":1,"completion_tokens":1,"time":""}',
            r"x\.jsonl:2: the request was edited",
        ),
    ],
)
async def test_a_bad_export_names_its_line(tmp_path: Path, line: bytes, says: str) -> None:
    await fill(tmp_path / "a.sqlite", call(1))
    with CallStore(tmp_path / "a.sqlite") as store:
        store.export_jsonl(tmp_path / "x.jsonl")
        with (tmp_path / "x.jsonl").open("ab") as stream:
            stream.write(line + b"\n")
        with pytest.raises(DataError, match=says):
            store.import_jsonl(tmp_path / "x.jsonl")


def test_a_cut_or_missing_export_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"key":1}' * 1000)[:40])
    for name, says in (("cut.jsonl.gz", "cannot be read"), ("none.jsonl", "no such file")):
        with (
            CallStore(tmp_path / "s.sqlite", also=[tmp_path / name], readonly=True) as store,
            pytest.raises(DataError, match=says),
        ):
            store.get("k")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="VIVAVOCE_STORE"):
        CallStore(tmp_path / "file" / "s.sqlite")


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("mount"), reason="needs a full disk")
async def test_a_full_disk_is_a_clear_error_and_keeps_what_was_stored(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)], capture_output=True, check=False
    ).returncode:
        pytest.skip("no permission to mount a small tmpfs")
    try:
        stored = []
        with CallStore(disk / "s.sqlite") as store:
            with pytest.raises(StoreError, match="Free some space"):
                for number in range(200):
                    await store.put(call(number, '{"a":"' + "x" * 20_000 + '"}'))
                    stored.append(call(number).key)
            assert len(stored) > 3 and all(store.get(key) for key in stored)
        shutil.copy(disk / "s.sqlite", tmp_path / "copy.sqlite")
        if (disk / "s.sqlite-wal").exists():
            shutil.copy(disk / "s.sqlite-wal", tmp_path / "copy.sqlite-wal")
        with CallStore(tmp_path / "copy.sqlite") as store:
            assert all(store.get(key) for key in stored)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_no_two_jobs_share_a_file(tmp_path: Path) -> None:
    job = {"stage": "rollout", "benchmark": "b", "agent": "a", "model": "m", "seed": 0}
    files = {store_file(tmp_path, **(job | change)) for change in ({}, {"stage": "judge"}, {"benchmark": "c"}, {"agent": "b"}, {"model": "n"}, {"seed": 1})}  # type: ignore[arg-type]  # fmt: skip  # noqa: E501
    assert len(files) == 6 and all(tmp_path in file.parents for file in files)


def test_the_root_can_be_moved(tmp_path: Path) -> None:
    assert store_root({}, tmp_path) == tmp_path / ".vivavoce" / "calls"
    assert store_root({"VIVAVOCE_STORE": "/fast/calls"}, tmp_path) == Path("/fast/calls")


async def test_the_command_line_merges_a_folder_of_stores_and_takes_it_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await fill(tmp_path / "root" / "rollout" / "s0.sqlite", call(1), call(2))
    await fill(tmp_path / "root" / "judge" / "s0.sqlite", call(2), call(3))
    out, back = tmp_path / "out.jsonl.gz", tmp_path / "back.sqlite"
    assert main(["export", str(out), str(tmp_path / "root")]) == 0
    assert main(["import", str(back), str(out)]) == 0
    assert capsys.readouterr().out == "3 calls\n3 calls\n"
    with CallStore(back, readonly=True) as store:
        assert set(store.keys()) == {call(number).key for number in (1, 2, 3)}
    assert main(["export", str(out), str(tmp_path / "nowhere.sqlite")]) == 1
    assert "nothing to export" in capsys.readouterr().err

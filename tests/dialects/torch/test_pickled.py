"""Pickles that are damaged or mean harm: errors only, in little memory and time."""

from __future__ import annotations

import codecs
import io
import os
import pickle
import random
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch
from tests.dialects.torch.saved_cases import CASES, ERRORS, archived, bits, changed, loaded, saved


def with_pickle(data: bytes, **records: bytes) -> bytes:
    """Return a file with a pickle, and a storage of four numbers."""
    held = {"data.pkl": data, "byteorder": b"little", "data/0": bytes(16), "version": b"3\n"}
    return archived({f"archive/{name}": part for name, part in (held | records).items()})


def tensor_at(offset: int, size: list[int], stride: list[int], count: int = 4) -> bytes:
    """Return a pickle of a tensor in the storage of four numbers."""

    def number(n: int) -> bytes:
        data = n.to_bytes(16, "little", signed=True)
        return b"\x8a\x10" + data

    def row(numbers: list[int]) -> bytes:
        return b"(" + b"".join(map(number, numbers)) + b"t"

    storage = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpu" + number(count)
    where = number(offset) + row(size) + row(stride)
    hooks = b"ccollections\nOrderedDict\n)R"
    head = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("
    return head + storage + b"tQ" + where + b"\x89" + hooks + b"tR."


def test_a_tensor_within_its_storage_is_read() -> None:
    assert loaded(with_pickle(tensor_at(1, [3], [1]))).tolist() == [0.0] * 3
    assert loaded(with_pickle(tensor_at(3, [2**40], [0]))).shape == (2**40,)
    assert loaded(with_pickle(tensor_at(0, [0, 2**40], [1, 1]))).shape == (0, 2**40)


@pytest.mark.parametrize(
    "place",
    [
        (0, [5], [1]), (1, [4], [1]), (4, [1], [1]), (-1, [1], [1]), (0, [2], [4]), (0, [2], [-1]),
        (0, [-1], [1]), (0, [2], [2**61]), (2**61, [1], [1]), (2**80, [1], [1]), (0, [2**80], [0]),
        (0, [2**40, 2**40], [0, 0]), (0, [2], [1, 1]), (0, [2**61], [1]), (0, [1] * 100, [1] * 100),
        (0, [4], [1], 2**40), (0, [4], [1], 5), (0, [1], [1], -1), (0, [1], [1], 3),
        (0, [0, 2**40, 2**40], [1, 1, 1]),
    ],
    ids=str,
)  # fmt: skip
def test_tensors_beyond_their_storage_are_refused(place: tuple[Any, ...]) -> None:
    with pytest.raises(ERRORS):
        loaded(with_pickle(tensor_at(*place)))


class Harm:
    """What runs code when Python's own pickle reads it."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize(
    "call",
    [
        (os.system, "touch harm"), (eval, "open('harm', 'w')"), (exec, "open('harm', 'w')"),
        (getattr, "", "format"), (__import__, "antigravity"), (subprocess.run, ["touch", "harm"]),
        (os.rmdir, "."), (open, "harm", "w"), (np.load, "harm"), (type, "A", (), {}),
        (map, len, []),
    ],
    ids=lambda call: call[0].__name__,
)  # fmt: skip
def test_nothing_is_called(tmp_path: Path, monkeypatch: Any, call: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for protocol in (2, 4):
        data = pickle.dumps({"a": Harm(*call)}, protocol)
        with pytest.raises(pickle.UnpicklingError, match="asks for|protocol 2"):
            loaded(with_pickle(data))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        "wengert.torch\nload", "torch\nload", "torch\nTensor.sum", "builtins\neval", "torch\nnn",
        "torch._utils\n__builtins__", "collections\nnamedtuple", "torch\n_NAMED", "\n", "torch\n",
        "torch.storage\nTypedStorage", "torch\nQUInt8Storage", "torch\nquint8",
    ],
    ids=repr,
)  # fmt: skip
def test_names_that_are_not_on_the_list(name: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match="asks for|not offered"):
        loaded(with_pickle(b"\x80\x02c" + name.encode() + b"\n."))


HARM = {
    "a number is called": b"K\1)R.",
    "a dtype is called": b"ctorch\nfloat32\n)R.",
    "a class of storage is called": b"ctorch\nFloatStorage\n(K\1tR.",
    "Tensor is called": b"ctorch\nTensor\n(K\1tR.",
    "attributes of a dict": b"}}X\1\0\0\0aK\1sb.",
    "attributes of an OrderedDict": b"ccollections\nOrderedDict\n)R}X\5\0\0\0itemsK\1sb.",
    "a list is filled as a dict": b"]K\1K\2s.",
    "a dict is filled as a list": b"}K\1a.",
    "a Counter is filled": b"ccollections\nCounter\n}\x85RK\1K\2s.",
    "nothing on the stack": b"R.",
    "no value": b".",
    "no end": b"K\1",
    "no mark": b"K\1t.",
    "an odd number of items": b"}(K\1u.",
    "nothing remembered": b"h\5.",
    "a list as a key": b"}]K\1s.",
    "a long text that is not there": b"X\xff\xff\xff\xffab.",
    "a long number that is not there": b"\x8a\xffab.",
    "bytes of another coding": b"c_codecs\nencode\n(X\1\0\0\0aX\5\0\0\0rot13tR.",
    "a storage without a description": b"K\1Q.",
    "a storage of another kind": b"(K\1K\1K\1K\1K\1tQ.",
    "an opcode of protocol 4": b"\x8f.",
    "a name of an instance": b"(i__main__\nX\n.",
    "a set of sets": b"cbuiltins\nset\n(]cbuiltins\nset\n(]tRatR.",
    "a size of floats": b"ctorch\nSize\n(G\0\0\0\0\0\0\0\0\x85tR.",
    "a device of a number": b"ctorch\ndevice\n(K\1tR.",
    "a tensor of numbers": b"ctorch._utils\n_rebuild_tensor_v2\n(K\1K\1K\1K\1K\1K\1tR.",
    "a tensor of few values": b"ctorch._utils\n_rebuild_tensor_v2\n)R.",
    "a parameter of a text": b"ctorch._utils\n_rebuild_parameter\n(X\1\0\0\0a\x88NtR.",
}


@pytest.mark.parametrize("data", HARM.values(), ids=[*HARM])
def test_pickles_that_make_no_sense(data: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        loaded(with_pickle(b"\x80\x02" + data))


HOOKS = b"ccollections\nOrderedDict\n)R"


@pytest.mark.parametrize(
    "use",
    [
        b"Q.", b"(K\1K\1K\1K\1tQ.", b"R.", b")R.", b"e.", b"a.", b"}K\1s.", b"sb.", b"]K\1s.",
        b"q\0ctorch._utils\n_rebuild_parameter\n(h\0h\0" + HOOKS + b"tR.",
        b"q\0ctorch._utils\n_rebuild_parameter\n(h\0\x88h\0tR.",
        b"q\0ctorch._tensor\n_rebuild_from_type_v2\n(h\0ctorch\nTensor\n)}tR.",
        b"q\0c_codecs\nencode\n(X\1\0\0\0ah\0tR.", b"q\0ctorch\nSize\n(h\0tR.",
        b"q\0cbuiltins\nset\n(h\0tR.", b"q\0cbuiltins\nset\n(](h\0etR.",
        b"q\0ccollections\nOrderedDict\n(h\0tR.", b"q\0ccollections\nOrderedDict\n)Rh\0b.",
    ],
)  # fmt: skip
def test_tensors_of_a_file_are_asked_nothing(use: bytes) -> None:
    """A tensor of 2**60 elements that share one place must not be compared or iterated over."""
    large = tensor_at(0, [2**60 // 4], [0])
    with pytest.raises(pickle.UnpicklingError):
        watched(with_pickle(large[:-1] + use))
    assert not SEEN, SEEN


def test_hidden_attributes_of_tensors_are_refused() -> None:
    x = torch.ones(1)
    x.note = 1
    with pytest.raises(pickle.UnpicklingError, match="attributes"):
        loaded(changed(saved(x), b"X\4\0\0\0note", b"X\4\0\0\0_raw"))


#: Pickles that are small and would fill memory or take for ever.
BOMBS = {
    "a place far away": b"N" + b"r" + struct.pack("<I", 2**32 - 2) + b".",
    "tuples of tuples as a key": b"K\1" + b"q\0h\0\x86" * 60 + b"}" + b"q\1h\1h\0N" + b"s.",
    "tuples of tuples in a set": b"cbuiltins\nset\n]K\1" + b"q\0h\0\x86" * 60 + b"a\x85R.",
    "copies of a set": (
        b"]q\0(" + b"".join(b"M" + struct.pack("<H", k) for k in range(60_000)) + b"e"
    ) + b"cbuiltins\nset\nq\1" + b"h\1h\0\x85R" * 3000 + b".",
    "copies of bytes": (
        b"c_codecs\nencode\nq\0X\0\0\x10\0" + b"a" * 2**20 + b"q\1X\6\0\0\0latin1q\2"
        + b"h\0h\1h\2\x86R" * 3000 + b"."
    ),
    "many dicts": b"}" * (2**21 + 1) + b".",
    "many ordered dicts": b"ccollections\nOrderedDict\nq\0" + b"h\0)R" * 2**20 + b".",
    "many marks": b"(" * (2**21 + 1) + b".",
    "keys of one hash": b"}(" + b"".join(
        b"\x8a\x10" + (k * (2**61 - 1)).to_bytes(16, "little") + b"N" for k in range(1, 50_000)
    ) + b"u.",
}  # fmt: skip
PROBE = """
import io, pickle, resource, sys, time
import wengert.torch as torch
torch.load, torch.nn
data = open(sys.argv[1], "rb").read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2)
begin = time.process_time()
try:
    torch.load(io.BytesIO(data))
    what = "loaded"
except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
    what = "refused"
more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(what, time.process_time() - begin, more // 1024)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_take_little_memory_and_time(tmp_path: Path, name: str) -> None:
    pytest.importorskip("resource")
    file = tmp_path / "file"
    file.write_bytes(with_pickle(b"\x80\x02" + BOMBS[name]))
    found = subprocess.run(
        [sys.executable, "-c", PROBE, str(file)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    what, seconds, megabytes = found.stdout.split()
    assert what == ("loaded" if name == "a place far away" else "refused"), found
    assert float(seconds) < 20 and int(megabytes) < 1000, found


def test_a_compressed_file_is_refused_before_it_is_read() -> None:
    data = with_pickle(tensor_at(0, [1], [1]))
    records = {
        f"archive/{k}": v for k, v in {"data.pkl": b"\x80\x02N.", "data/0": bytes(10**7)}.items()
    }
    packed = archived(records, compression=zipfile.ZIP_DEFLATED)
    assert len(packed) < 20_000
    with pytest.raises(RuntimeError, match="compressed"):
        loaded(packed)
    assert loaded(data).item() == 0


def test_records_that_say_too_much_are_refused() -> None:
    data = bytearray(with_pickle(b"\x80\x02N."))
    at = data.index(b"PK\1\2")
    data[at + 20 : at + 28] = struct.pack("<II", 2**31, 2**31)
    with pytest.raises(RuntimeError, match="says that it holds"):
        loaded(bytes(data))


# -- files that are damaged ------------------------------------------------------------------------

OPCODES = b"(N.\x88\x89KMJG\x8aXc)R\x85\x86\x87t]eabu}sQqrhj"


def mutated(rng: random.Random, data: bytes, insert: bytes) -> bytes:
    """Return bytes with a few of them changed, removed, repeated or inserted."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at, other, how = rng.randrange(len(found)), rng.randrange(len(found)), rng.randrange(7)
        count = rng.choice([1, 2, 4, 16, 64])
        if how == 0:
            found[at] = rng.randrange(256)
        elif how == 1:
            found[at] ^= 1 << rng.randrange(8)
        elif how == 2:
            found = found[:at] or bytearray(b"P")
        elif how == 3:
            found[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", bytes(4)])
        elif how == 4:
            found[at:at] = found[other : other + count]
        elif how == 5 and len(found) > count:
            del found[at : at + count]
        else:
            found.insert(at, rng.choice(insert))
        if not found:
            break
    return bytes(found)


#: What the interpreter was seen to do while files are loaded: to run or to import something.
SEEN: list[str] = []
_watching = [False]


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if _watching[0] and not event.startswith(("object.", "code.", "gc.", "array.", "builtins.")):
        SEEN.append(f"{event} {args!r:.200}")


sys.addaudithook(_watch)


def outcome(data: bytes) -> str | None:
    """Return what is in a file; None for an error, which must be one of those that are said."""
    try:
        return bits(watched(data))
    except ERRORS:
        return None


def watched(data: bytes) -> Any:
    """Return what is in a file, and see what happens."""
    _watching[0] = True
    try:
        return loaded(data)
    finally:
        _watching[0] = False


def test_what_is_run_is_seen() -> None:
    _watching[0] = True
    try:
        eval("1")
    finally:
        _watching[0] = False
    assert [text.split()[0] for text in SEEN] == ["compile", "exec"]
    SEEN.clear()


def check_mutations(data: bytes, first: int, count: int) -> int:
    """Check mutations of a file, or of its pickle, and return how many were errors."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in records if name.endswith("/data.pkl"))
    text, errors = bits(loaded(data)), 0
    codecs.lookup("cp437")  # of names in an archive, which Python loads when it first sees one
    begin, peak = time.process_time(), most_memory()
    for seed in range(first, first + count):
        rng = random.Random(seed)
        if seed % 2:  # a checksum that fits: the pickle itself must be read with care
            tried = archived(records | {name: mutated(rng, records[name], OPCODES)})
            errors += outcome(tried) is None
        else:
            found = outcome(mutated(rng, data, b"PK\1\2\5\6"))
            errors += found is None
            assert found in (None, text), seed  # never other numbers
    assert time.process_time() - begin < 0.05 * count
    assert most_memory() - peak < 300
    assert not SEEN, SEEN
    return errors


def most_memory() -> int:
    """Return how many megabytes this process has had at most; 0 where nobody counts."""
    resource = pytest.importorskip("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) // 1024


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_are_errors(part: int) -> None:
    cases = ["a_checkpoint", "views", "containers", "parameters"]
    found = check_mutations(saved(CASES[cases[part]](torch)), 1000 * part, 500)
    assert found > 300

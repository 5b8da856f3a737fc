"""torch.save and torch.load: PyTorch's files, and files that are damaged or mean harm."""

from __future__ import annotations

import base64
import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch
from tests.dialects.torch.parity import answer, compare
from tests.dialects.torch.saved_cases import CASES, bits, changed, loaded, saved

# -- PyTorch's files -------------------------------------------------------------------------------


@pytest.mark.parity
@pytest.mark.parametrize("name", CASES)
def test_files_of_pytorch_load_bit_by_bit(name: str) -> None:
    def written(module: Any) -> Any:
        value = CASES[name](module)
        return base64.b64encode(saved(value, module)).decode(), bits(value)

    file, text = answer(written)["parts"]
    assert bits(loaded(base64.b64decode(file))) == text


@pytest.mark.parametrize("name", CASES)
def test_files_of_ours_load_bit_by_bit(name: str) -> None:
    value = CASES[name](torch)
    data = saved(value)
    assert bits(loaded(data)) == bits(value)
    assert saved(CASES[name](torch)) == data  # and the file is the same each time


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 20


def test_records_are_those_of_pytorch() -> None:
    with zipfile.ZipFile(io.BytesIO(saved([torch.ones(3), torch.ones(5)]))) as archive:
        names = archive.namelist()
        begins = [i.header_offset + 30 + len(i.filename) + len(i.extra) for i in archive.infolist()]
    assert [n.removeprefix("archive/") for n in names] == [
        "data.pkl", ".format_version", ".storage_alignment", "byteorder", "data/0", "data/1",
        "version",
    ]  # fmt: skip
    assert all(begin % 64 == 0 for begin in begins)


# -- files and what goes into them -----------------------------------------------------------------


def test_paths_and_open_files(tmp_path: Path) -> None:
    x = torch.arange(3.0)
    for given in (str(tmp_path / "a.pt"), tmp_path / "b.pt"):
        torch.save({"x": x}, given)
        assert torch.load(given)["x"].tolist() == [0.0, 1.0, 2.0]
    with open(tmp_path / "c.pt", "w+b") as file:
        torch.save(x, file)
        file.seek(0)
        assert torch.equal(torch.load(file), x)
        assert not file.closed


def test_a_stream_that_cannot_go_back() -> None:
    class Stream:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: Any) -> int:
            self.data += bytes(data)
            return len(bytes(data))

        def flush(self) -> None:
            pass

    stream = Stream()
    torch.save([torch.ones(2)], stream)
    assert loaded(stream.data)[0].tolist() == [1.0, 1.0]


def test_shared_memory_is_shared_again() -> None:
    x = torch.arange(4.0)
    a, b = loaded(saved([x, x[1:3]]))
    b.mul_(10)
    assert a.tolist() == [0.0, 10.0, 20.0, 3.0]


def test_what_is_loaded_learns() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    states = []
    for _ in range(2):
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        states.append(saved([model.state_dict(), optimizer.state_dict()]))
    first, second = loaded(states[0])
    other = torch.nn.Linear(2, 1)
    assert str(other.load_state_dict(first)) == "<All keys matched successfully>"
    again = torch.optim.SGD(other.parameters(), lr=1.0)
    again.load_state_dict(second)
    for _ in range(3):
        again.zero_grad()
        other(torch.ones(1, 2)).sum().backward()
        again.step()
    assert saved([other.state_dict(), again.state_dict()]) == states[1]


def test_numpys_arrays_and_their_views_are_saved() -> None:
    base = np.arange(12.0).reshape(3, 4)
    turned = torch.from_numpy(base[:, 1::2])
    odd = torch.from_numpy(np.zeros(9, np.uint8)[1:].view(np.float32))
    for x in (turned, odd, torch.from_numpy(np.asfortranarray(base))):
        assert torch.equal(loaded(saved(x)), x)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (torch.nn.Linear(1, 1), "state_dict"),
        (torch.optim.SGD([torch.ones(1)], lr=1), "state_dict"),
        (np.float64(1), r"x\.item\(\)"),
        (np.ones(2), "from_numpy"),
        (lambda: 1, "tensors, numbers"),
        (object(), "tensors, numbers"),
        ({frozenset(): 1}, "key"),
        ({((1,),): 1}, "key"),
        ({(1, 2)}, "set"),
    ],
)
def test_what_is_not_saved_leaves_no_file(tmp_path: Path, value: Any, hint: str) -> None:
    with pytest.raises(pickle.PicklingError, match=hint):
        torch.save({"ok": torch.ones(1), "value": [value]}, tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_two_dtypes_of_one_memory_are_refused_as_in_pytorch() -> None:
    x = torch.ones(2, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match=r"clone\(\)"):
        saved([x, torch.view_as_real(x)])


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where", [None, "cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, where: storage]
)
def test_where_tensors_go(where: Any) -> None:
    assert loaded(saved(torch.ones(1)), map_location=where).item() == 1


def of_a_gpu() -> bytes:
    """Return a file with a tensor that was on another device."""
    return changed(saved(torch.ones(1)), b"X\3\0\0\0cpu", b"X\6\0\0\0cuda:0")


def test_tensors_of_other_devices_come_to_the_cpu_if_that_is_said() -> None:
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        loaded(of_a_gpu())
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        loaded(of_a_gpu(), map_location={"cuda:1": "cpu"})
    assert loaded(of_a_gpu(), map_location="cpu").item() == 1
    assert loaded(of_a_gpu(), map_location={"cuda:0": "cpu"}).item() == 1
    with pytest.raises(AssertionError, match="CUDA"):
        loaded(of_a_gpu(), map_location="cuda")


def test_code_is_never_loaded() -> None:
    with pytest.raises(NotImplementedError, match="weights_only=False would run"):
        loaded(saved(1), weights_only=False)
    assert loaded(saved(1), weights_only=True, mmap=True) == 1
    with pytest.raises(AttributeError, match=r"torch\.load reads tensors, numbers"):
        torch.serialization.add_safe_globals  # noqa: B018
    with pytest.raises(NotImplementedError, match="zip format"):
        torch.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", EOFError, "empty"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", pickle.UnpicklingError, "zip format"),
        (b"PK", RuntimeError, "damaged"),
        (b"PK\3\4" + bytes(100), RuntimeError, "damaged"),
    ],
)
def test_other_files_are_refused(data: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        loaded(data)


def test_things_that_are_no_files_are_refused() -> None:
    with pytest.raises(AttributeError, match="has no 'read'"):
        torch.load(3)
    with pytest.raises(AttributeError, match="has no 'write'"):
        torch.save(3, 3)
    with pytest.raises(FileNotFoundError):
        torch.load("there/is/none")


# -- memory of other objects -----------------------------------------------------------------------

BUFFERS = {
    "all of it": "torch.frombuffer(data, dtype=torch.int16)",
    "a part": "torch.frombuffer(data, dtype=torch.float32, count=1, offset=4)",
    "a leaf": "torch.frombuffer(data, dtype=torch.float32, requires_grad=True)",
    "one that is written to": "(torch.frombuffer(data, dtype=torch.uint8).add_(1), bytes(data))",
    "too many": "torch.frombuffer(data, dtype=torch.float32, count=9)",
    "too far": "torch.frombuffer(data, dtype=torch.float32, offset=90)",
    "not whole": "torch.frombuffer(data, dtype=torch.float32, offset=1)",
    "no dtype": "torch.frombuffer(data)",
    "a file": "torch.asarray(storage[4:12], dtype=torch.uint8).view(dtype=torch.float32)",
    "a file's bytes": "(storage.nbytes(), len(storage), storage[3], storage.untyped().tolist())",
}


@pytest.mark.parity
@pytest.mark.parametrize("code", BUFFERS.values(), ids=[*BUFFERS])
def test_memory_of_other_objects(tmp_path: Path, code: str) -> None:
    def program(torch: Any) -> Any:
        data = bytearray(range(12))
        (tmp_path / "file").write_bytes(data)
        storage = torch.UntypedStorage.from_file(str(tmp_path / "file"), False, nbytes=12)
        return eval(code, {"torch": torch, "data": data, "storage": storage})

    compare(program)

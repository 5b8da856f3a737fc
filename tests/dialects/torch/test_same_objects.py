"""Operations that change nothing: whether they return the tensor, or one of its own."""

import itertools
import math

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

OPS = {
    "reshape same": lambda t, x: x.reshape(x.shape),
    "reshape -1": lambda t, x: x.reshape(-1),
    "view same": lambda t, x: x.view(x.shape),
    "view_as": lambda t, x: x.view_as(x),
    "reshape_as": lambda t, x: x.reshape_as(x),
    "expand": lambda t, x: x.expand(x.shape),
    "expand_as": lambda t, x: x.expand_as(x),
    "broadcast_to": lambda t, x: t.broadcast_to(x, x.shape),
    "permute": lambda t, x: x.permute(*range(x.ndim)),
    "transpose": lambda t, x: x.transpose(0, 0) if x.ndim else x.t(),
    "squeeze": lambda t, x: x.squeeze(),
    "squeeze0": lambda t, x: x.squeeze(0) if x.ndim else x.squeeze(),
    "squeeze()": lambda t, x: x.squeeze(()),
    "flatten": lambda t, x: x.flatten(),
    "flatten00": lambda t, x: x.flatten(0, 0),
    "ravel": lambda t, x: x.ravel(),
    "contiguous": lambda t, x: x.contiguous(),
    "contiguous cl": lambda t, x: x.contiguous(memory_format=t.contiguous_format),
    "to dtype": lambda t, x: x.to(x.dtype),
    "to self": lambda t, x: x.to(x),
    "to cpu": lambda t, x: x.to("cpu"),
    "to copy": lambda t, x: x.to(x.dtype, copy=True),
    "to kw": lambda t, x: x.to(dtype=x.dtype, device="cpu"),
    "float": lambda t, x: x.float(),
    "double": lambda t, x: x.double(),
    "type": lambda t, x: x.type(x.dtype),
    "type_as": lambda t, x: x.type_as(x),
    "cpu": lambda t, x: x.cpu(),
    "narrow": lambda t, x: x.narrow(0, 0, x.shape[0]) if x.ndim else x[...],
    "[...]": lambda t, x: x[...],
    "[:]": lambda t, x: x[:] if x.ndim else x[...],
    "[()]": lambda t, x: x[()],
    "atleast_1d": lambda t, x: t.atleast_1d(x),
    "atleast_2d": lambda t, x: t.atleast_2d(x),
    "atleast_3d": lambda t, x: t.atleast_3d(x),
    "real": lambda t, x: x.real,
    "conj": lambda t, x: x.conj(),
    "resolve_conj": lambda t, x: x.resolve_conj(),
    "resolve_neg": lambda t, x: x.resolve_neg(),
    "positive": lambda t, x: +x,
    "positive f": lambda t, x: t.positive(x),
    "clone": lambda t, x: x.clone(),
    "detach": lambda t, x: x.detach(),
    "data": lambda t, x: x.data,
    "alias": lambda t, x: x.view_as(x),
    "movedim": lambda t, x: x.movedim(0, 0) if x.ndim else x.clone(),
    "swapaxes": lambda t, x: x.swapaxes(0, 0) if x.ndim else x.clone(),
    "unflatten": lambda t, x: x.unflatten(0, (-1,)) if x.ndim else x.clone(),
    "repeat": lambda t, x: x.repeat(*[1] * x.ndim) if x.ndim else x.repeat(1),
    "tile": lambda t, x: x.tile(()),
    "roll0": lambda t, x: x.roll(0),
    "flip()": lambda t, x: x.flip(()),
    "rot90 0": lambda t, x: x.rot90(0) if x.ndim > 1 else x.clone(),
    "diff n0": lambda t, x: x.diff(n=0) if x.ndim else x.clone(),
    "cat one": lambda t, x: t.cat([x]) if x.ndim else x.clone(),
    "stack": lambda t, x: t.stack([x])[0],
    "broadcast_tensors": lambda t, x: t.broadcast_tensors(x, x)[0],
    "meshgrid": lambda t, x: t.meshgrid(x.reshape(-1), indexing="ij")[0],
    "as_tensor": lambda t, x: t.as_tensor(x),
    "asarray": lambda t, x: t.asarray(x),
    "requires_grad_": lambda t, x: x.requires_grad_() if x.is_leaf else x,
    "mT": lambda t, x: x.mT if x.ndim > 1 else x.clone(),
    "t": lambda t, x: x.t() if x.ndim < 2 else x.clone(),
    "H": lambda t, x: x.adjoint() if x.ndim > 1 else x.clone(),
    "chunk1": lambda t, x: x.chunk(1)[0] if x.ndim else x.clone(),
    "split": lambda t, x: x.split(x.shape[0])[0] if x.ndim else x.clone(),
    "sum()": lambda t, x: x.sum(()),
    "mean()": lambda t, x: x.mean(()) if False else x.clone(),
    "nan_to_num": lambda t, x: x.nan_to_num(),
    "tril": lambda t, x: x.tril() if x.ndim > 1 else x.clone(),
    "cumsum": lambda t, x: x.cumsum(0),
    "dropout0": lambda t, x: t.nn.functional.dropout(x, 0.0),
    "dropout eval": lambda t, x: t.nn.functional.dropout(x, 0.5, training=False),
    "pad0": lambda t, x: t.nn.functional.pad(x, (0, 0)) if x.ndim else x.clone(),
    "identity": lambda t, x: t.nn.Identity()(x),
    "Flatten": lambda t, x: t.nn.Flatten(0)(x),
    "Dropout": lambda t, x: t.nn.Dropout().eval()(x),
    "expand -1": lambda t, x: x.expand(*[-1] * x.ndim) if x.ndim else x.expand(()),
    "block_diag": lambda t, x: t.block_diag(x),
    "sort": lambda t, x: x.sort(0)[0],
    "clamp": lambda t, x: x.clamp(min=-1e9),
    "squeeze_": lambda t, x: (x * 1).squeeze_(),
    "as_strided": lambda t, x: x.as_strided(x.shape, x.stride()),
    "unfold": lambda t, x: x.unfold(0, 1, 1) if x.ndim else x.clone(),
    "index_select": lambda t, x: x.index_select(0, t.arange(x.shape[0])) if x.ndim else x.clone(),
    "softmax": lambda t, x: t.softmax(x, 0),
    "half": lambda t, x: x.half().float(),
    "interp": lambda t, x: x.lerp(x, 0.0),
    "where": lambda t, x: t.where(t.tensor(True), x, x),
    "addcmul": lambda t, x: x + 0,
    "mul1": lambda t, x: x * 1,
    "pow1": lambda t, x: x**1,
    "div1": lambda t, x: x / 1,
    "hstack": lambda t, x: t.hstack([x]),
    "vstack": lambda t, x: t.vstack([x]),
    "column": lambda t, x: t.column_stack([x]),
    "diagonal": lambda t, x: x.diagonal() if x.ndim > 1 else x.clone(),
    "swapdims": lambda t, x: t.swapdims(x, 0, 0) if x.ndim else x.clone(),
    "round": lambda t, x: x.round(),
    "select": lambda t, x: x.unsqueeze(0).select(0, 0),
    "deepcopy": lambda t, x: x.detach().clone().requires_grad_(),
    "moveaxis": lambda t, x: t.moveaxis(x, (), ()),
    "view dtype": lambda t, x: x.view(x.dtype),
    "matrix_power": lambda t, x: t.linalg.matrix_power(x, 1) if x.ndim > 1 else x.clone(),
    "cartesian_prod": lambda t, x: t.cartesian_prod(x) if x.ndim == 1 else x.clone(),
    "combinations": lambda t, x: x.clone(),
    "rad": lambda t, x: t.sym_float(x) if False else x.clone(),
}


def _program(op, shape, kind, noncontig):
    def p(torch):
        n = math.prod(shape)
        a = torch.arange(1.0, n + 1, dtype=torch.float32).reshape(shape).clone()
        if noncontig and len(shape) == 2:
            a = a.t().clone().t()
        a.requires_grad_()
        x = a if kind == "leaf" else (a * 1)
        if noncontig and len(shape) == 2 and kind != "leaf":
            x = (a.t() * 1).contiguous().t()
        y = OPS[op](torch, x)
        w = [
            y is x,
            y.requires_grad,
            y.is_leaf,
            y._base is x if y._base is not None else None,
            (y._base is not None),
        ]
        if not y.requires_grad:
            return w, y
        z = (y * y).sum() + (x * x).sum() * 3
        g = torch.autograd.grad(
            z, [y, x] if y.requires_grad else [x], allow_unused=True, retain_graph=True
        )
        z2 = (y * x.reshape(-1)[0]).sum()
        g2 = torch.autograd.grad(z2, [y, x], allow_unused=True)
        return w, g, g2

    return p


SHAPES = ((3,), (3, 3), (), (1,), (1, 3), (1, 1))


@pytest.mark.parametrize("op", OPS)
def test_result_and_gradients_by_it(op):
    for shape, kind, other_order in itertools.product(SHAPES, ("leaf", "mid"), (False, True)):
        compare(_program(op, shape, kind, other_order and len(shape) == 2))

"""torch.autograd.functional with each of its options, for functions that depend on little."""

import itertools

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

FN = {
    "square": lambda torch: lambda x: x * x,
    "const": lambda torch: lambda x: torch.ones(2),
    "const_grad": lambda torch: lambda x: torch.ones(2).requires_grad_(),
    "linear": lambda torch: lambda x: 2 * x,
    "ident": lambda torch: lambda x: x,
    "sum": lambda torch: lambda x: x.sum(),
    "sumsq": lambda torch: lambda x: (x * x).sum(),
    "cube": lambda torch: lambda x: (x**3).sum(),
    "one1": lambda torch: lambda x: (x**3).sum().reshape(1),
    "one11": lambda torch: lambda x: (x**3).sum().reshape(1, 1),
    "one111": lambda torch: lambda x: (x**3).sum().reshape(1, 1, 1),
    "lin111": lambda torch: lambda x: (x * 2).sum().reshape(1, 1, 1),
    "two": lambda torch: lambda x: (x * x, x.sum()),
    "twoc": lambda torch: lambda x: (x * x, torch.ones(1)),
    "number": lambda torch: lambda x: 3.0,
    "list": lambda torch: lambda x: [x * x, x],
    "detached": lambda torch: lambda x: (x.detach() * x).sum(),
    "det": lambda torch: lambda x: x.detach() * 2,
    "zero": lambda torch: lambda x: (x * 0).sum(),
}
FN2 = {
    "first": lambda torch: lambda x, y: (x * x).sum(),
    "prod": lambda torch: lambda x, y: (x * y).sum(),
    "lin2": lambda torch: lambda x, y: (x * x + y).sum(),
    "vec": lambda torch: lambda x, y: x * x * y,
    "vec1": lambda torch: lambda x, y: (x * x).reshape(2, 1),
    "sep": lambda torch: lambda x, y: (x**3).sum() + (y**3).sum(),
}


def _program(op, fn, n, create, extra, req):
    def p(torch):
        x = torch.tensor([1.0, 2.0], requires_grad=req)
        y = torch.tensor([3.0, 5.0])
        f = (FN if n == 1 else FN2)[fn](torch)
        F = getattr(torch.autograd.functional, op)
        inp = x if n == 1 else (x, y)
        kw = {"create_graph": create}
        if op in ("jacobian", "hessian"):
            kw.update(extra)
            r = F(f, inp, **kw)
        else:
            v = extra.get("v")
            if v == "like":
                v = torch.ones(2) if n == 1 else (torch.ones(2), torch.ones(2))
            elif v == "out":
                v = torch.ones(2)
            elif v == "111":
                v = torch.ones(1, 1, 1)
            elif v == "s":
                v = torch.tensor(2.0)
            r = F(f, inp, v, **kw)

        def flat(r):
            return [r] if not isinstance(r, (tuple, list)) else [q for z in r for q in flat(z)]

        ts = flat(r)
        extra_out = []
        for t in ts:
            if t.requires_grad:
                extra_out.append(
                    torch.autograd.grad(t.sum(), x, allow_unused=True, retain_graph=True)
                    if req
                    else None
                )
        return r, [t.requires_grad for t in ts], extra_out

    return p


OPTIONS = {
    "jacobian": [{}, {"vectorize": True}, {"strategy": "forward-mode"}],
    "hessian": [{}, {"vectorize": True}, {"outer_jacobian_strategy": "forward-mode"}],
} | {
    key: [{"v": v} for v in (None, "like", "out", "111", "s")]
    for key in ("vjp", "jvp", "hvp", "vhp")
}
#: In PyTorch, a vectorized Jacobian that is recorded requires grad where it is constant, too.
RECORDED_ANYWAY = ("two", "twoc", "sep")


@pytest.mark.parametrize("op", OPTIONS)
@pytest.mark.parametrize("name", [*FN, *FN2])
def test_options(op, name):
    count = 1 if name in FN else 2
    for create, needs in itertools.product((False, True), repeat=2):
        for extra in OPTIONS[op]:
            if create and extra == {"vectorize": True} and name in RECORDED_ANYWAY:
                continue
            compare(_program(op, name, count, create, extra, needs))

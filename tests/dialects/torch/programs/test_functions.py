"""Functions with rules of their own, as the documents and users write them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def legendre_function(torch: Any) -> Any:
    class LegendrePolynomial3(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return 0.5 * (5 * input**3 - 3 * input)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output * 1.5 * (5 * input**2 - 1)

    x = torch.linspace(-math.pi, math.pi, 200)
    y = torch.sin(x)
    a = torch.full((), 0.1, requires_grad=True)
    b = torch.full((), -1.0, requires_grad=True)
    c = torch.full((), 0.1, requires_grad=True)
    d = torch.full((), 0.3, requires_grad=True)
    for _t in range(30):
        P3 = LegendrePolynomial3.apply
        y_pred = a + b * P3(c + d * x)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= 5e-5 * p.grad
                p.grad = None
    print(str(y_pred.grad_fn)[:13], P3(c).grad_fn.name())
    return a, b, c, d, loss


@program
def function_exp_doc(torch: Any) -> Any:

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, i: torch.Tensor) -> torch.Tensor:
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx: Any, grad_output: torch.Tensor) -> torch.Tensor:
            (result,) = ctx.saved_tensors
            return grad_output * result

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    output = Exp.apply(x)
    print(output)
    output.sum().backward()
    print(
        x.grad,
        torch.autograd.gradcheck(Exp.apply, torch.randn(3, dtype=torch.double, requires_grad=True)),
    )
    return x


@program
def linear_function_doc(torch: Any) -> Any:
    Function = torch.autograd.Function

    class LinearFunction(Function):
        @staticmethod
        def forward(input, weight, bias):
            output = input.mm(weight.t())
            if bias is not None:
                output += bias.unsqueeze(0).expand_as(output)
            return output

        @staticmethod
        def setup_context(ctx, inputs, output):
            input, weight, bias = inputs
            ctx.save_for_backward(input, weight, bias)

        @staticmethod
        def backward(ctx, grad_output):
            input, weight, bias = ctx.saved_tensors
            grad_input = grad_weight = grad_bias = None
            if ctx.needs_input_grad[0]:
                grad_input = grad_output.mm(weight)
            if ctx.needs_input_grad[1]:
                grad_weight = grad_output.t().mm(input)
            if bias is not None and ctx.needs_input_grad[2]:
                grad_bias = grad_output.sum(0)
            return grad_input, grad_weight, grad_bias

    def linear(input, weight, bias=None):
        return LinearFunction.apply(input, weight, bias)

    class Linear(torch.nn.Module):
        def __init__(self, input_features, output_features, bias=True):
            super().__init__()
            self.input_features = input_features
            self.output_features = output_features
            self.weight = torch.nn.Parameter(torch.empty(output_features, input_features))
            if bias:
                self.bias = torch.nn.Parameter(torch.empty(output_features))
            else:
                self.register_parameter("bias", None)
            torch.nn.init.uniform_(self.weight, -0.1, 0.1)
            if self.bias is not None:
                torch.nn.init.uniform_(self.bias, -0.1, 0.1)

        def forward(self, input):
            return LinearFunction.apply(input, self.weight, self.bias)

        def extra_repr(self):
            return (
                f"input_features={self.input_features}, output_features={self.output_features}, "
                f"bias={self.bias is not None}"
            )

    from_input = (
        torch.randn(20, 20, dtype=torch.double, requires_grad=True),
        torch.randn(30, 20, dtype=torch.double, requires_grad=True),
    )
    test = torch.autograd.gradcheck(linear, from_input, eps=1e-6, atol=1e-4)
    print(test)
    layer = Linear(3, 2)
    print(layer)
    out = layer(torch.randn(4, 3))
    print(out)
    out.sum().backward()
    return layer.weight, layer.bias


@program
def mul_constant_doc(torch: Any) -> Any:
    class MulConstant(torch.autograd.Function):
        @staticmethod
        def forward(tensor, constant):
            return tensor * constant

        @staticmethod
        def setup_context(ctx, inputs, output):
            _tensor, constant = inputs
            ctx.constant = constant

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.constant, None

    x = torch.randn(3, requires_grad=True)
    y = MulConstant.apply(x, 2.5)
    print(y)
    y.backward(torch.tensor([1.0, 2.0, 3.0]))
    return x


@program
def mul_constant_optimised(torch: Any) -> Any:
    class MulConstant(torch.autograd.Function):
        @staticmethod
        def forward(tensor, constant):
            return tensor * constant

        @staticmethod
        def setup_context(ctx, inputs, output):
            _tensor, constant = inputs
            ctx.set_materialize_grads(False)
            ctx.constant = constant

        @staticmethod
        def backward(ctx, grad_output):
            if grad_output is None:
                return None, None
            return grad_output * ctx.constant, None

    x = torch.ones(2, requires_grad=True)
    MulConstant.apply(x, 3).sum().backward()
    return x


@program
def cube_setup_context(torch: Any) -> Any:
    class MyCube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            result = x**3
            dx = 3 * x**2
            return result, dx

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            _result, dx = output
            ctx.save_for_backward(x, dx)

        @staticmethod
        def backward(ctx, grad_output, grad_dx):
            x, dx = ctx.saved_tensors
            result = grad_output * dx + grad_dx * 6 * x
            return result

    def my_cube(x):
        result, _dx = MyCube.apply(x)
        return result

    x = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
    y = my_cube(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    print(g, gg)
    print(torch.autograd.gradcheck(my_cube, x), torch.autograd.gradgradcheck(my_cube, x))
    return g, gg


@program
def square_double_backward(torch: Any) -> Any:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_out):
            (x,) = ctx.saved_tensors
            return grad_out * 2 * x

    x = torch.rand(3, 3, requires_grad=True, dtype=torch.double)
    return torch.autograd.gradcheck(Square.apply, x), torch.autograd.gradgradcheck(Square.apply, x)


@program
def sinh_saving_intermediates(torch: Any) -> Any:
    class Sinh(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            expx = torch.exp(x)
            expnegx = torch.exp(-x)
            ctx.save_for_backward(expx, expnegx)
            return (expx - expnegx) / 2, expx, expnegx

        @staticmethod
        def backward(ctx, grad_out, _grad_out_exp, _grad_out_negexp):
            expx, expnegx = ctx.saved_tensors
            grad_input = grad_out * (expx + expnegx) / 2
            grad_input = grad_input + _grad_out_exp * expx
            grad_input = grad_input - _grad_out_negexp * expnegx
            return grad_input

    def sinh(x):
        return Sinh.apply(x)[0]

    x = torch.rand(3, 3, requires_grad=True, dtype=torch.double)
    return torch.autograd.gradcheck(sinh, x), torch.autograd.gradgradcheck(sinh, x)


@program
def inplace_mark_dirty(torch: Any) -> Any:
    class Inplace(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x_npy = x.numpy()
            x_npy += 1
            ctx.mark_dirty(x)
            return x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            return grad_output

    a = torch.tensor(1.0, requires_grad=True, dtype=torch.double).clone()
    b = a * a
    Inplace.apply(a)
    try:
        b.backward()
    except RuntimeError as e:
        print("modified" in str(e))
    return a.detach()


@program
def mark_non_differentiable_sort(torch: Any) -> Any:
    class Func(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            sorted, idx = x.sort()
            ctx.mark_non_differentiable(idx)
            ctx.save_for_backward(x, idx)
            return sorted, idx

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g1, g2):
            x, idx = ctx.saved_tensors
            grad_input = torch.zeros_like(x)
            grad_input.index_add_(0, idx, g1)
            return grad_input

    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    s, i = Func.apply(x)
    print(s, i)
    (s * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    return x, i


@program
def numpy_sort_vmap_doc(torch: Any) -> Any:
    def to_numpy(tensor):
        return tensor.cpu().numpy()

    class NumpySort(torch.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(x, dim):
            x = to_numpy(x)
            ind = np.argsort(x, axis=dim)
            ind_inv = np.argsort(ind, axis=dim)
            result = np.take_along_axis(x, ind, axis=dim)
            return torch.tensor(result), torch.tensor(ind), torch.tensor(ind_inv)

        @staticmethod
        def setup_context(ctx, inputs, output):
            _x, dim = inputs
            _, ind, ind_inv = output
            ctx.mark_non_differentiable(ind, ind_inv)
            ctx.save_for_backward(ind, ind_inv)
            ctx.dim = dim

        @staticmethod
        def backward(ctx, grad_output, _0, _1):
            ind, ind_inv = ctx.saved_tensors
            return NumpyTake.apply(grad_output, ind_inv, ind, ctx.dim), None

        @staticmethod
        def vmap(info, in_dims, x, dim):
            x_bdim, _ = in_dims
            x = x.movedim(x_bdim, 0)
            dim = dim if dim >= 0 else dim + x.dim() - 1
            return NumpySort.apply(x, dim + 1), (0, 0, 0)

    class NumpyTake(torch.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(x, ind, ind_inv, dim):
            x = to_numpy(x)
            ind = to_numpy(ind)
            return torch.tensor(np.take_along_axis(x, ind, dim))

        @staticmethod
        def setup_context(ctx, inputs, output):
            _x, ind, ind_inv, dim = inputs
            ctx.save_for_backward(ind, ind_inv)
            ctx.dim = dim

        @staticmethod
        def backward(ctx, grad_output):
            ind, ind_inv = ctx.saved_tensors
            result = NumpyTake.apply(grad_output, ind_inv, ind, ctx.dim)
            return result, None, None, None

        @staticmethod
        def vmap(info, in_dims, x, ind, ind_inv, dim):
            x_bdim, ind_bdim, ind_inv_bdim, _ = in_dims
            logical_dim = x.dim() if x_bdim is None else x_bdim - 1
            dim = dim if dim >= 0 else dim + logical_dim

            def maybe_expand_bdim_at_front(x, x_bdim):
                if x_bdim is None:
                    return x.expand(info.batch_size, *x.shape)
                return x.movedim(x_bdim, 0)

            x = maybe_expand_bdim_at_front(x, x_bdim)
            ind = maybe_expand_bdim_at_front(ind, ind_bdim)
            ind_inv = maybe_expand_bdim_at_front(ind_inv, ind_inv_bdim)
            return NumpyTake.apply(x, ind, ind_inv, dim + 1), 0

    def numpy_sort(x, dim=-1):
        result, _, _ = NumpySort.apply(x, dim)
        return result

    x = torch.randn(2, 3)
    result = torch.vmap(numpy_sort)(x)
    print(torch.allclose(result, torch.sort(x, dim=-1)[0]))
    y = x.clone().requires_grad_()
    (numpy_sort(y) * torch.arange(3.0)).sum().backward()
    g = torch.func.vmap(torch.func.grad(lambda r: (numpy_sort(r) * torch.arange(3.0)).sum()))(x)
    return result, y, g


@program
def mycube_generate_vmap(torch: Any) -> Any:
    class MyCube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            result = x**3
            dx = 3 * x**2
            return result, dx

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            _result, dx = output
            ctx.save_for_backward(x, dx)
            ctx.save_for_forward(x, dx)

        @staticmethod
        def backward(ctx, grad_output, grad_dx):
            x, dx = ctx.saved_tensors
            return grad_output * dx + grad_dx * 6 * x

        @staticmethod
        def jvp(ctx, grad_input):
            x, dx = ctx.saved_tensors
            return grad_input * dx, 6 * x * grad_input

    def my_cube(x):
        result, _dx = MyCube.apply(x)
        return result

    x = torch.randn(2)
    ggx = torch.func.grad(torch.func.grad(my_cube))(x[0])
    res = torch.vmap(my_cube)(torch.randn(3))
    t = torch.func.jvp(my_cube, (x,), (torch.ones(2),))
    return ggx, res, t


@program
def forward_mode_custom_function(torch: Any) -> Any:
    fwAD = torch.autograd.forward_ad

    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, foo):
            result = torch.exp(foo)
            ctx.result = result
            return result

        @staticmethod
        def jvp(ctx, gI):
            gO = gI * ctx.result
            del ctx.result
            return gO

    fn = Fn.apply
    primal = torch.randn(10, 10, dtype=torch.double, requires_grad=True)
    tangent = torch.randn(10, 10, dtype=torch.double)
    with fwAD.dual_level():
        dual_input = fwAD.make_dual(primal, tangent)
        dual_output = fn(dual_input)
        jvp = fwAD.unpack_dual(dual_output).tangent
    print(
        torch.autograd.gradcheck(
            Fn.apply,
            (primal,),
            check_forward_ad=True,
            check_backward_ad=False,
            check_undefined_grad=False,
            check_batched_grad=False,
        )
    )
    return jvp.detach()


@program
def straight_through(torch: Any) -> Any:
    class STE(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            return (input > 0).float()

        @staticmethod
        def backward(ctx, grad_output):
            return torch.nn.functional.hardtanh(grad_output)

    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    y = STE.apply(x)
    (y * torch.tensor([1.0, 2.0, -3.0])).sum().backward()
    q = x.detach().requires_grad_()
    z = q + (q.round() - q).detach()
    z.sum().backward()
    print(y, z, x.round().requires_grad)
    return x, q


@program
def gradient_reversal(torch: Any) -> Any:
    class GRL(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.neg() * ctx.alpha, None

    x = torch.ones(3, requires_grad=True)
    y = GRL.apply(x, 0.5)
    print(y, y.grad_fn.name(), type(y.grad_fn).__name__)
    y.pow(2).sum().backward()
    return x


@program
def custom_function_errors(torch: Any) -> Any:
    class F1(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g

    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    try:
        F1.apply(a, b).sum().backward()
    except RuntimeError as e:
        print(type(e).__name__)

    class F2(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return torch.ones(3)

    try:
        F2.apply(a).sum().backward()
    except RuntimeError as e:
        print("[3]" in str(e))

    class F3(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

    try:
        F3.apply(a).sum().backward()
    except NotImplementedError as e:
        print("backward" in str(e))
    except RuntimeError:
        print("R")
    try:
        F1()(a, b)
    except RuntimeError as e:
        print("function" in str(e).lower())

    class F4(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.x = a
            return a.clone(), 5, None

        @staticmethod
        def backward(ctx, g, *rest):
            return g * 2

    r = F4.apply(a)
    print(r)
    r[0].sum().backward()

    class F5(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    (g,) = torch.autograd.grad(F5.apply(a).sum(), a, create_graph=True)
    try:
        g.sum().backward()
    except RuntimeError as e:
        print("once_differentiable" in str(e))
    return a.grad


@program
def function_ctx_features(torch: Any) -> Any:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k, name="n", *rest):
            ctx.k = k
            ctx.save_for_backward(x)
            ctx.set_materialize_grads(True)
            print(ctx.needs_input_grad, name, rest, x.requires_grad, torch.is_grad_enabled())
            return x * k

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            print(torch.is_grad_enabled(), g.requires_grad, x.requires_grad)
            return g * ctx.k, None, None, None

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x, 3, "m", 7)
    print(y.grad_fn.name(), y.grad_fn.k, y.grad_fn.saved_tensors)
    y.sum().backward()
    try:
        print(y.grad_fn.saved_tensors)
    except RuntimeError as e:
        print("freed" in str(e))
    with torch.no_grad():
        print(F.apply(x, 2, "q", 1).requires_grad)
    (g,) = torch.autograd.grad(F.apply(x, 2, "q", 1).sum(), x, create_graph=True)
    print(g.requires_grad)
    return x


@program
def custom_relu_and_autograd_compare(torch: Any) -> Any:
    class MyReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input < 0] = 0
            return grad_input

    x, y = torch.randn(8, 10), torch.randn(8, 2)
    w1, w2 = torch.randn(10, 5, requires_grad=True), torch.randn(5, 2, requires_grad=True)
    for _t in range(5):
        relu = MyReLU.apply
        y_pred = relu(x.mm(w1)).mm(w2)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w1 -= 1e-4 * w1.grad
            w2 -= 1e-4 * w2.grad
            w1.grad.zero_()
            w2.grad.zero_()
    return loss, w1, w2


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])

"""What functions of the Array API standard, and some of its neighbours, return, with examples.

The declaration of such an operation is its derivative and no more: `compute` and this text follow
from its name. Other operations have their text in `doc=`. Tests run the examples.
"""

import re

_TEXT = """\
abs: Return the absolute value. `wg.abs([-2.0, 3.0])` is `[2.0, 3.0]`.
acos: Return the angle from 0 to pi with the cosine x. `wg.acos(0.5)` is `1.0472`.
acosh: Return the y >= 0 with cosh(y) = x. `wg.acosh([1.0, 2.0])` is `[0.0, 1.31696]`.
add: Return x1 + x2. `wg.add([1, 2], 10)` is `[11, 12]`.
all: Return whether all elements over `axis` are true.
    `wg.all([[0, 1], [2, 3]], axis=1)` is `[False, True]`.
any: Return whether any element over `axis` is true.
    `wg.any([[0, 0], [2, 0]], axis=1)` is `[False, True]`.
argmax: Return the index of the first maximum along `axis`, or in the flattened array.
    `wg.argmax([[1, 5, 5], [2, 0, 1]], axis=1)` is `[1, 0]`.
argmin: Return the index of the first minimum along `axis`, or in the flattened array.
    `wg.argmin([[1, 5, 5], [2, 0, 1]], axis=1)` is `[0, 1]`.
asin: Return the angle with the sine x, abs(angle) <= pi/2. `wg.asin(0.5)` is `0.523599`.
asinh: Return the y with sinh(y) = x. `wg.asinh([-1.0, 2.0])` is `[-0.881374, 1.44364]`.
atan: Return the angle with the tangent x, abs(angle) < pi/2. `wg.atan(1.0)` is `0.785398`.
atan2: Return the angle of the point (x2, x1). `wg.atan2(1.0, -1.0)` is `2.35619`.
atanh: Return the y with tanh(y) = x. `wg.atanh([-0.5, 0.5])` is `[-0.549306, 0.549306]`.
bitwise_and: Return x1 & x2, bit by bit. `wg.bitwise_and([12, 10], 6)` is `[4, 2]`.
bitwise_invert: Return ~x, bit by bit. `wg.bitwise_invert([0, 5])` is `[-1, -6]`.
bitwise_left_shift: Return x1 << x2. `wg.bitwise_left_shift([1, 3], 2)` is `[4, 12]`.
bitwise_or: Return x1 | x2, bit by bit. `wg.bitwise_or([12, 10], 6)` is `[14, 14]`.
bitwise_right_shift: Return x1 >> x2. `wg.bitwise_right_shift([4, 13], 2)` is `[1, 3]`.
bitwise_xor: Return x1 ^ x2, bit by bit. `wg.bitwise_xor([12, 10], 6)` is `[10, 12]`.
ceil: Return the least integer not below x. `wg.ceil([-1.5, 1.2])` is `[-1.0, 2.0]`.
conj: Return the complex conjugate. `wg.conj([1 + 2j, 3j])` is `[1 - 2j, -3j]`.
copysign: Return abs(x1) with the sign of x2. `wg.copysign(2.0, -0.0)` is `-2.0`.
cos: Return the cosine of an angle in radians. `wg.cos([0.0, 1.0])` is `[1.0, 0.540302]`.
cosh: Return (exp(x) + exp(-x)) / 2. `wg.cosh([0.0, 1.0])` is `[1.0, 1.54308]`.
count_nonzero: Return how many elements over `axis` are not zero.
    `wg.count_nonzero([[1, 0], [2, 3]], axis=0)` is `[2, 1]`.
cumulative_logsumexp: Return log(cumulative_sum(exp(x))) along an axis, without overflow.
    `wg.cumulative_logsumexp([0.0, 0.0, 1.0])` is `[0.0, 0.693147, 1.55144]`.
cumulative_max: Return running maxima along an axis; ties so far share the gradient evenly.
    `wg.cumulative_max([1, 3, 2])` is `[1, 3, 3]`.
cumulative_min: Return running minima along an axis; ties so far share the gradient evenly.
    `wg.cumulative_min([2, 3, 1])` is `[2, 2, 1]`.
cumulative_prod: Return running products along an axis, after a 1 if `include_initial`. The
    derivative exists also where elements are 0. `wg.cumulative_prod([1, 3, 2])` is `[1, 3, 6]`.
cumulative_sum: Return running sums along an axis, after a 0 if `include_initial`.
    `wg.cumulative_sum([1, 3, 2], include_initial=True)` is `[0, 1, 4, 6]`.
divide: Return x1 / x2. `wg.divide([1.0, 6.0], 4.0)` is `[0.25, 1.5]`.
empty: Return an array whose elements are not set. `wg.empty((2, 3)).shape` is `(2, 3)`.
empty_like: Return an array like x whose elements are not set.
    `wg.empty_like([5, 7]).shape` is `(2,)`.
equal: Return whether x1 == x2. `wg.equal([1, 2], 2)` is `[False, True]`.
exp: Return e to the power x. `wg.exp([0.0, 1.0])` is `[1.0, 2.71828]`.
expm1: Return exp(x) - 1, accurate near 0. `wg.expm1([1e-12, 1.0])` is `[1e-12, 1.71828]`.
floor: Return the largest integer not above x. `wg.floor([-1.5, 1.2])` is `[-2.0, 1.0]`.
floor_divide: Return floor(x1 / x2). `wg.floor_divide([7, -7], 2)` is `[3, -4]`.
greater: Return whether x1 > x2. `wg.greater([2, 3], 2)` is `[False, True]`.
greater_equal: Return whether x1 >= x2. `wg.greater_equal([1, 2], 2)` is `[False, True]`.
hypot: Return sqrt(x1**2 + x2**2). `wg.hypot([3.0, 5.0], [4.0, 12.0])` is `[5.0, 13.0]`.
imag: Return the imaginary part. `wg.imag([1 + 2j, 3j])` is `[2.0, 3.0]`.
isfinite: Return whether x is finite. `wg.isfinite([1.0, np.inf])` is `[True, False]`.
isinf: Return whether x is infinite. `wg.isinf([1.0, -np.inf])` is `[False, True]`.
isnan: Return whether x is not a number. `wg.isnan([np.inf, np.nan])` is `[False, True]`.
less: Return whether x1 < x2. `wg.less([1, 2], 2)` is `[True, False]`.
less_equal: Return whether x1 <= x2. `wg.less_equal([2, 3], 2)` is `[True, False]`.
log: Return the natural logarithm. `wg.log([1.0, 10.0])` is `[0.0, 2.30259]`.
log10: Return the logarithm to base 10. `wg.log10([0.01, 1000.0])` is `[-2.0, 3.0]`.
log1p: Return log(1 + x), accurate near 0. `wg.log1p([1e-12, 1.0])` is `[1e-12, 0.693147]`.
log2: Return the logarithm to base 2. `wg.log2([1.0, 8.0])` is `[0.0, 3.0]`.
logaddexp: Return log(exp(x1) + exp(x2)), stably. `wg.logaddexp(1e3, 1e3)` is `1000.69`.
logical_and: Return x1 and x2. `wg.logical_and([True, False], True)` is `[True, False]`.
logical_not: Return the negation. `wg.logical_not([True, False])` is `[False, True]`.
logical_or: Return x1 or x2. `wg.logical_or([True, False], False)` is `[True, False]`.
logical_xor: Return exclusive or. `wg.logical_xor(True, [True, False])` is `[False, True]`.
max: Return the maximum over `axis`; ties share the gradient evenly.
    `wg.max([[1, 5], [7, 2]], axis=0)` is `[7, 5]`.
maximum: Return the larger; ties share the gradient. `wg.maximum([1, 5], 3)` is `[3, 5]`.
mean: Return the mean over `axis`. `wg.mean([[1.0, 5.0], [7.0, 2.0]], axis=0)` is `[4.0, 3.5]`.
min: Return the minimum over `axis`; ties share the gradient evenly.
    `wg.min([[1, 5], [7, 2]], axis=0)` is `[1, 2]`.
minimum: Return the smaller; ties share the gradient. `wg.minimum([1, 5], 3)` is `[1, 3]`.
multiply: Return x1 * x2. `wg.multiply([1.0, 2.0], [3.0, 4.0])` is `[3.0, 8.0]`.
negative: Return -x. `wg.negative([1.0, -2.0])` is `[-1.0, 2.0]`.
nextafter: Return the next float after x1 towards x2. `wg.nextafter(1.0, 2) > 1` is `True`.
not_equal: Return whether x1 != x2. `wg.not_equal([1, 2], 2)` is `[True, False]`.
ones: Return ones, in float64 or in `dtype`. `wg.ones((2, 1))` is `[[1.0], [1.0]]`.
ones_like: Return ones in the shape and dtype of x. `wg.ones_like([5, 7])` is `[1, 1]`.
positive: Return +x, a copy. `wg.positive([1.0, -2.0])` is `[1.0, -2.0]`.
real: Return the real part. `wg.real([1 + 2j, 3j])` is `[1.0, 0.0]`.
reciprocal: Return 1 / x. `wg.reciprocal([2.0, -4.0])` is `[0.5, -0.25]`.
remainder: Return x1 - x2 * floor(x1 / x2). `wg.remainder([7, -7], 4)` is `[3, 1]`.
round: Return the nearest integer; halves to even. `wg.round([0.4, 2.5])` is `[0.0, 2.0]`.
segment_logsumexp: Return log(sum(exp(rows))) of each segment, without overflow; -inf for one
    without rows. `wg.segment_logsumexp([0.0, 1.0, 0.0], [0, 1, 0])` is `[0.693147, 1.0]`.
segment_max: Return the maximum of each segment; ties share the gradient evenly. A segment without
    rows has -inf, or the least integer of an integer dtype.
    `wg.segment_max([3, 1, 2], [0, 1, 0])` is `[3, 1]`.
segment_min: Return the minimum of each segment; ties share the gradient evenly. A segment without
    rows has inf, or the largest integer of an integer dtype.
    `wg.segment_min([3, 1, 2], [0, 1, 0])` is `[2, 1]`.
segment_prod: Return the product of the rows of each segment; 1 for one without rows. Its derivative
    exists also where elements are 0. `wg.segment_prod([3, 1, 2], [0, 1, 0])` is `[6, 1]`.
sign: Return -1, 0 or 1. `wg.sign([-3.0, 0.0, 2.0])` is `[-1.0, 0.0, 1.0]`.
signbit: Return whether the sign bit is set. `wg.signbit([-0.0, 0.0])` is `[True, False]`.
sin: Return the sine of an angle in radians. `wg.sin([0.0, 1.0])` is `[0.0, 0.841471]`.
sinh: Return (exp(x) - exp(-x)) / 2. `wg.sinh([0.0, 1.0])` is `[0.0, 1.1752]`.
sqrt: Return the square root. `wg.sqrt([4.0, 2.0])` is `[2.0, 1.41421]`.
square: Return x * x. `wg.square([3.0, -4.0])` is `[9.0, 16.0]`.
std: Return the standard deviation, sqrt(var); its gradient is 0 where all are equal.
    `wg.std([1.0, 1.0, 3.0, 3.0])` is `1.0`.
subtract: Return x1 - x2. `wg.subtract([5, 2], 10)` is `[-5, -8]`.
tan: Return sin(x) / cos(x). `wg.tan([0.0, 1.0])` is `[0.0, 1.55741]`.
tanh: Return sinh(x) / cosh(x). `wg.tanh([0.0, 1.0])` is `[0.0, 0.761594]`.
tril: Return x with zeros above diagonal k. `wg.tril([[1, 2], [3, 4]])` is `[[1, 0], [3, 4]]`.
triu: Return x with zeros below diagonal k. `wg.triu([[1, 2], [3, 4]])` is `[[1, 2], [0, 4]]`.
trunc: Return x rounded towards 0. `wg.trunc([-1.5, 1.2])` is `[-1.0, 1.0]`.
var: Return sum((x - mean(x))**2) / (n - correction) over `axis`.
    `wg.var([1.0, 2.0, 6.0])` is `4.66667`.
zeros: Return zeros, in float64 or in `dtype`. `wg.zeros((2, 1))` is `[[0.0], [0.0]]`.
zeros_like: Return zeros in the shape and dtype of x. `wg.zeros_like([5, 7])` is `[0, 0]`.
"""
#: The docstring of each function by its name.
DOCS = {
    name: " ".join(text.split())
    for name, text in (entry.split(": ", 1) for entry in re.split(r"\n(?=\w)", _TEXT))
}

"""The functions, methods and attributes of NumPy and PyTorch that the comparison of array code is allowed to use."""

from __future__ import annotations

import math
from typing import Any

from . import plain_functions
from .optional_numpy import np

UFUNCS = {*"""add subtract multiply divide true_divide power float_power maximum minimum fmax fmin greater less greater_equal less_equal
    equal not_equal logical_and logical_or logical_xor remainder mod fmod floor_divide arctan2 hypot copysign logaddexp heaviside""".split()}  # fmt: skip
ELEMENTS = {*"""exp log sin cos tan tanh sinh cosh sqrt abs sign floor ceil square log1p expm1 log2 log10 negative positive reciprocal
    exp2 absolute deg2rad rad2deg round trunc logical_not where clip arcsin arccos arctan arcsinh arccosh arctanh""".split()}  # fmt: skip
BOTH = {*"""sum mean prod max min amax amin std var median any all argmax argmin cumsum cumprod sort argsort transpose swapaxes moveaxis
    squeeze reshape ravel flip fliplr flipud roll concatenate stack vstack hstack tile broadcast_to matmul dot inner outer vdot kron tensordot
    einsum trace diag diagonal tril triu arange linspace ones zeros full eye ones_like zeros_like full_like take diff nansum nanmean
    meshgrid asarray count_nonzero split cross cov fix""".split()} | UFUNCS | ELEMENTS  # fmt: skip
LINALG = {*"norm inv det cholesky eigvalsh slogdet solve matrix_norm vector_norm multi_dot matrix_power pinv".split()}
OF_BOTH = {"diagonal", "matmul", "vecdot"}  # functions of linear algebra with a namesake in the main module
NUMPY = BOTH | {*"""fabs rint cbrt average array copy ascontiguousarray expand_dims take_along_axis concat identity tri correlate convolve repeat
    permute_dims matrix_transpose rollaxis ptp pad select nan_to_num dstack column_stack vecdot array_split
    hsplit vsplit float64 double acos asin atan pow degrees radians""".split()} | {f"linalg.{name}" for name in LINALG | OF_BOTH | {"outer", "tensordot", "trace"}} | {"lib.stride_tricks.sliding_window_view"}  # fmt: skip
TORCH = BOTH | {*"""neg sub mul div pow rsqrt sigmoid relu erf lgamma asin acos atan frac softmax log_softmax logsumexp mm mv bmm baddbmm addmm addmv
    norm permute unsqueeze flatten unflatten movedim swapdims cat concat clamp masked_fill index_select gather take_along_dim inverse
    logdet det tensor clone detach chunk tensor_split unbind narrow select t gt lt ge le eq ne repeat_interleave diag_embed cdist
    chain_matmul ger rot90 embedding conv1d conv2d erfc special.expit special.logsumexp special.softmax cosine_similarity
    layer_norm matrix_exp matrix_power fmod cholesky slogdet special.erf special.exp2 special.expm1 special.log1p special.log_softmax
    special.round""".split()} | {f"linalg.{name}" for name in LINALG | OF_BOTH | {"matrix_exp"}}  # fmt: skip
FUNCTIONAL = {*"""softmax log_softmax softmin logsigmoid relu gelu silu sigmoid tanh softplus elu leaky_relu relu6 selu mish hardtanh softsign
    dropout embedding one_hot cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy
    binary_cross_entropy_with_logits layer_norm rms_norm linear normalize cosine_similarity pairwise_distance scaled_dot_product_attention
    conv1d conv2d conv3d max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d pad glu interpolate batch_norm""".split()}  # fmt: skip
CONVERSIONS = {*"astype float double half to type int long bool".split()}
NUMPY_METHODS = {*"""sum mean prod max min std var any all argmax argmin cumsum cumprod argsort transpose swapaxes squeeze reshape ravel
    flatten clip dot take repeat trace diagonal copy astype round""".split()}  # fmt: skip
TORCH_METHODS = (
    (TORCH | {*"view view_as reshape_as repeat expand expand_as contiguous size unfold dim numel amax amin".split()} | CONVERSIONS)
    - {*"tensor asarray arange linspace ones zeros full eye concatenate cat concat stack einsum".split()}
) - {"astype"}  # fmt: skip
ATTRIBUTES = {"T", "mT", "shape", "ndim", "size", "values"}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}
MATH = {
    name: getattr(math, name)
    for name in "sqrt exp log log2 log10 sin cos tan tanh sinh cosh floor ceil log1p expm1 erf pow hypot".split()
}
OF_SIZES = {
    *"ones zeros full eye tri identity arange linspace one_hot tile repeat pad broadcast_to expand repeat_interleave interpolate".split()
}

OWN: dict[str, Any] = {  # functions of other libraries, which we define with NumPy
    **{name: plain_functions.ELEMENTWISE[name] for name in "relu silu erf leaky_relu elu softplus".split()},
    "softmax": lambda x, axis=None: plain_functions.softmax(x, axis), "log_softmax": lambda x, axis=None: np.log(plain_functions.softmax(x, axis)),
    **dict.fromkeys(("rearrange", "reduce", "repeat"), plain_functions.arrange),
    "sigmoid": plain_functions.sigmoid, "expit": plain_functions.sigmoid, "gelu": plain_functions.gelu,
    "logsumexp": lambda x, axis=None, keepdims=False: np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims)),
    "inv": lambda x: np.linalg.inv(x), "det": lambda x: np.linalg.det(x), "norm": lambda x, *rest, **named: np.linalg.norm(x, *rest, **named),
    "solve": lambda a, b: np.linalg.solve(a, b), "kron": lambda x, y: np.kron(x, y), "one_hot": lambda x, size: np.eye(size)[x],
    "log1p": lambda x: np.log1p(x), "expm1": lambda x: np.expm1(x), "exp2": lambda x: np.exp2(x), "cbrt": lambda x: np.cbrt(x), "round": lambda x: np.round(x),
}  # fmt: skip
OF_JAX: dict[str, Any] = {  # functions whose defaults differ in JAX
    "gelu": lambda x, approximate=True: plain_functions.gelu_tanh(x) if approximate else plain_functions.gelu(x),
}

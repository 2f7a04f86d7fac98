"""Initializers for parameters. The spread of the values is a formula in the fan-in.

If a formula contracts a parameter, the parameter's `fan_in` is the number of elements that are summed for one output,
and its `fan_out` is the number of outputs that one element contributes to. Each published initializer is a single line:

    Normal("√(1 / fan_in)")                    lecun_normal: LeCun et al. 1998
    Uniform("√(6 / (fan_in + fan_out))")       glorot_uniform: Glorot and Bengio 2010
    Normal("√(2 / fan_in)")                    he_normal: He et al. 2015
    Normal("0.02")                             Devlin et al. 2018, Radford et al. 2019

>>> import namedtensor as nt
>>> W = nt.init("X ⊙_{a} W\\nW ∈ ℝ^{a[3] × b[2]}", X="ℝ^{a}", initializers={"W": nt.initializers.he_normal})["W"]
>>> W.shape
ℝ^{a[3] × b[2]}
"""

from .programs.initializers import Constant, Normal, Uniform, glorot_uniform, he_normal, lecun_normal, ones, zeros

__all__ = ["Constant", "Normal", "Uniform", "glorot_uniform", "he_normal", "lecun_normal", "ones", "zeros"]

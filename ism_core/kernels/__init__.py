"""Kernels: f(β) and f′(β) of a pair of projected rows, and the feature maps of those that have one."""

from ism_core.kernels.base import (
    MEDIAN_ROWS,
    Combination,
    Form,
    Kernel,
    RowSelection,
    Term,
    exact_maps,
    median_distance,
    parameters,
    random_maps,
    taylor_maps,
)
from ism_core.kernels.family import (
    KERNELS,
    Gaussian,
    KernelWithWidth,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    as_kernel,
)
from ism_core.kernels.feature_maps import Compilable, Constant, Differentiable, FeatureMap, Power, Recipe, TermMap
from ism_core.kernels.monomials import monomials
from ism_core.kernels.nested_parameters import KernelParametersMixin
from ism_core.kernels.random_features import Fourier
from ism_core.kernels.taylor import MAX_DEGREE, Taylor

__all__ = [
    "KERNELS",
    "MAX_DEGREE",
    "MEDIAN_ROWS",
    "Combination",
    "Compilable",
    "Constant",
    "Differentiable",
    "FeatureMap",
    "Form",
    "Fourier",
    "Gaussian",
    "Kernel",
    "KernelParametersMixin",
    "KernelWithWidth",
    "Linear",
    "Multiquadratic",
    "Polynomial",
    "Power",
    "Recipe",
    "RelativeGaussian",
    "RowSelection",
    "Squared",
    "Taylor",
    "Term",
    "TermMap",
    "as_kernel",
    "exact_maps",
    "median_distance",
    "monomials",
    "parameters",
    "random_maps",
    "taylor_maps",
]

"""The kernels and sums of kernels that properties of the whole family are tested over."""

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.kernels import Kernel

KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "squared": Squared(),
    "polynomial 1": Polynomial(degree=1, c=0.5, gamma=0.7),
    "polynomial 2": Polynomial(degree=2, c=1.0, gamma=0.3),
    "polynomial 3": Polynomial(degree=3, c=0.4, gamma=0.2),
    "polynomial 4": Polynomial(degree=4, c=2.0, gamma=0.1),
    "polynomial c=0": Polynomial(degree=3, c=0.0, gamma=0.25),
    "gaussian": Gaussian(sigma=1.7),
    "relative gaussian": RelativeGaussian(neighbors=3),
    "multiquadratic": Multiquadratic(c=0.8),
}

SUMS: dict[str, Kernel] = {
    "two gaussians": Gaussian(sigma=0.9) + 0.5 * Gaussian(sigma=3.0),
    "three differences": 0.2 * Squared() + Multiquadratic(c=1.5) + 3.0 * RelativeGaussian(neighbors=4),
    "two products": 0.3 * Linear() + Polynomial(degree=3, c=1.0, gamma=0.1),
    "mixed": 0.7 * Gaussian(sigma=1.5) + 0.2 * Polynomial(degree=2, c=1.0, gamma=0.4) + Linear(),
    "mixed with features": 2.0 * Squared() + 0.1 * Polynomial(degree=3, c=0.5, gamma=0.2),
}

EVERY = KERNELS | SUMS
KINDS = {  # a kernel of each formula, and sums of each form: for tests that take long
    name: EVERY[name]
    for name in ("linear", "squared", "polynomial 3", "gaussian", "relative gaussian", "multiquadratic", *SUMS)
    if name != "mixed with features"
}
WITH_FEATURES = {
    name: kernel
    for name, kernel in EVERY.items()
    if all(isinstance(term, Linear | Squared | Polynomial) for _, term in kernel.terms)
}
DIFFERENCES = {
    name: kernel for name, kernel in EVERY.items() if all(term.form == "difference" for _, term in kernel.terms)
}

NAMES = ["linear", "squared", "polynomial", "gaussian", "relative_gaussian", "multiquadratic"]

"""The parameters of a kernel as nested parameters of a scikit-learn estimator: ``kernel__sigma`` and the like."""

from typing import Any, Self

from sklearn.base import BaseEstimator

from ism_core.kernels.base import Kernel, parameters, with_parameters
from ism_core.kernels.family import KERNELS, as_kernel

PREFIX = "kernel__"


class KernelParametersMixin(BaseEstimator):  # type: ignore[misc]
    """An estimator whose parameter `kernel` has parameters of its own."""

    kernel: Kernel | str

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with `deep` those of the kernel too, such as ``kernel__sigma``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and (isinstance(self.kernel, Kernel) or (isinstance(self.kernel, str) and self.kernel in KERNELS)):
            params |= {f"{PREFIX}{name}": value for name, value in parameters(as_kernel(self.kernel)).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__sigma`` and the like change a parameter of the kernel."""
        of_kernel = {name: params.pop(name) for name in list(params) if name.startswith(PREFIX)}
        super().set_params(**params)
        if of_kernel:
            changed = {name.removeprefix(PREFIX): value for name, value in of_kernel.items()}
            self.kernel = with_parameters(as_kernel(self.kernel), changed)
        return self

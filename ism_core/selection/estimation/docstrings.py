"""What the docstrings of the estimators have in common."""

from typing import Any

# The parameters and attributes that all estimators have, for their docstrings; below, those of some estimators.
PARAMETERS = """
    Parameters
    ----------
    kernel : Kernel or str, default="auto"
        A kernel such as ``Gaussian(sigma=2.0)``, its name, or "auto", which chooses one from the data.
    q : int or "auto", optional
        Number of axes. None means "auto" if `kernel` is "auto", else 2.
    delta : float, optional
        Convergence tolerance. None means 0.01, or 0.1 if a supervised estimator chooses the width of its kernel.
    max_iter : int, default=300
        Largest number of iterations.
    starts : int, "path" or "interactions", optional
        Number of starts, "path" for continuation from a wide kernel to a narrow one, or "interactions" for a start from
        products of two features that y depends on. None lets the solver decide.
    scale : "standard", "whiten", "none" or "auto", optional
        Preprocessing of X. None means "auto" if `kernel` is "auto", else "standard".
    random_state : int, RandomState or None, default=0
    precision : "double" or "single", default="double"
        Floating-point precision of sums over pairs of rows.
    tolerance : float, optional
        Largest relative error of the gradient if a Gaussian's Taylor series is truncated. 0 disables truncation.
    approximation : dict, optional
        ``{"features": m}`` replaces pairs of rows by m random features.
    engine : "local" (threads of this machine), "dask" (a cluster) or Engine, default="local"
    features_per_axis : int, optional
        Largest number of features with a nonzero loading on each axis.
    prepare : "auto", sequence of str or None, default="auto"
        For frames (pandas, polars, pyarrow) "auto" leaves out row numbers, identifiers, dates, constants and copies of
        y, encodes text, and fills in missing values; warnings name all of it. A list names the columns to use. None
        takes the values as they are, as for arrays. It needs pyarrow and pydantic.
"""
ATTRIBUTES = """
    Attributes
    ----------
    components_ : ndarray of shape (q, d)
        The columns of W as rows, for standardized features. They are orthonormal unless the rows were whitened.
    eigenvalues_ : ndarray of shape (q,), of Φ(W)
    objective_ : float
        J at the optimum.
    feature_importances_ : ndarray of shape (d,), or a named series if X was a pandas frame
        Share of each feature in the informative axes; the shares add up to 1. Computed when it is first read.
    interpretation_ : Interpretation
        Contributions of the axes, and standard errors, structure, groups and permutation drops of the features.
    features_ : ndarray of shape (d,)
        Names of the features, the columns of `components_`: columns of X, or levels of text such as "color=red".
    n_iter_ : int
        Number of iterations.
    mean_, scale_ : ndarray of shape (d,)
        Means and standard deviations that standardize the columns.
    limits_ : ndarray of shape (2, d) or None
        Smallest and largest values, to which gross cells are moved before; None if no column has gross cells.
    choice_ : Choice or None
        The settings that were chosen, with all candidates; None if everything was given.
    result_ : Result
        Steps, certificate, error and warnings of the solver, for the scaled rows (whitened, if scale is "whiten").
"""
CLUSTERS = """    n_clusters : int, default=2
        Number of clusters.
"""
LABELS = """    labels_ : ndarray of shape (n,)
        Cluster of each row.
"""


def documented(own_parameters: str = "", own_attributes: str = "", example: str = "") -> Any:
    """Complete an estimator's docstring with the parameters and attributes that all estimators share."""

    def complete(cls: type) -> type:
        cls.__doc__ = f"{cls.__doc__ or ''}\n{PARAMETERS}{own_parameters}{ATTRIBUTES}{own_attributes}{example}"
        return cls

    return complete

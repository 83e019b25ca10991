"""Exceptions of ism_core.

ValueError
└── InvalidInput        a parameter, table or target that cannot be used
ConnectionError
└── ClusterLost         a Dask cluster that does not answer, or has no workers
"""


class InvalidInput(ValueError):
    """An argument cannot be used.

    The message says what is wrong, the value that came and what is allowed.

    Attributes
    ----------
    parameter : str
        The name of the argument.
    """

    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter = parameter


class ClusterLost(ConnectionError):
    """A Dask cluster was lost.

    The message names the cluster and what did not answer. The same call can succeed once the cluster is back.
    """

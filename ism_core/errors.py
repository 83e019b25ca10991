"""What goes wrong because of what was given, or of where it is to be computed.

ValueError
└── InvalidInput        a parameter, table or label column that cannot be used
ConnectionError
└── ClusterLost         a Dask cluster that does not answer, or has no workers
"""


class InvalidInput(ValueError):
    """The sentence says what came and what is allowed; `parameter` names the argument it belongs to."""

    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter = parameter


class ClusterLost(ConnectionError):
    """The sentence says which cluster, and what it was that did not answer."""

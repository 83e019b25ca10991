"""What goes wrong because of what was given.

ValueError
└── InvalidInput        a parameter, table or label column that cannot be used
"""


class InvalidInput(ValueError):
    """The sentence says what came and what is allowed; `parameter` names the argument it belongs to."""

    def __init__(self, parameter: str, sentence: str) -> None:
        super().__init__(sentence)
        self.parameter = parameter

"""How far the score of an automatic choice is from the score on rows that the choice never saw."""

"""The paper's experiments repeated, and the report `docs/paper.md` that compares the results."""

"""How soon a job shows something, beside scikit-learn."""

"""Clusterings that labels guide, compared with label spreading and constrained k-means."""

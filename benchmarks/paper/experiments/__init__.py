"""One module for each experiment of the paper, and the runs that several of them share."""

"""`python -m drills.chaos [--seconds 300] [--seed 0]`."""

from drills.chaos.drill import main

main()

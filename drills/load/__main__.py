"""`python -m drills.load [--seconds 120] [--followers 200]`."""

from drills.load.drill import main

main()

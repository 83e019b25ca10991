"""Build the image, run the compose file on a real Docker engine and drive it: `python -m drills.containers`.

`engine` finds or makes an engine, `base_images` makes what cannot be pulled, `stack` runs the compose file, and
`rehearsal` has the steps of the drill.
"""

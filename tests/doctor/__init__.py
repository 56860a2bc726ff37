"""``partners doctor``: what it finds, in the house, at the model and on the platforms."""

"""Properties here are about what comes out, not how fast: a busy machine must not fail them."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

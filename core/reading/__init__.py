"""What came with a message, made into text and pictures that a model can be given.

Everything in here is from strangers' files: it is fetched within limits, opened in a process of its
own that can be ended (``worker``), and whatever goes wrong is one sentence for the learner.
"""

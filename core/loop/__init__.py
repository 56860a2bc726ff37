"""The agent loop: one for every capability, and the pure parts it is made of."""

"""The clockwork: sweeps that find what is due. It holds no truth; rows do."""

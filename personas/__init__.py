"""Persona files and their loader; knows nothing else."""

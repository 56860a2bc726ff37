"""The doors: one folder a channel, rendering, the command line and the composition root."""

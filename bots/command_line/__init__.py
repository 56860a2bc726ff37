"""The command line: one file a group of commands. Each imports what it needs when it runs."""

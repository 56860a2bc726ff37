"""The door for a person who sits at the machine: lines in, styled lines out."""

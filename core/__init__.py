"""The house: everything between the doors and the files; it knows no platform by name."""

"""What the tutor can do in a turn, one file each; a capability brings no loop of its own."""

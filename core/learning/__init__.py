"""What is learned, and when to ask again: pure functions over plain values."""

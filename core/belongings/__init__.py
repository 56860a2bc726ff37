"""What belongs to a learner: which rows and files, handed over whole, or erased."""

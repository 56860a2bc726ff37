"""What people can ask for by name: the declarations and their handlers, one file a subject."""

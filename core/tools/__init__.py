"""What a model can ask for while it answers: the registry and one file a tool."""

"""Three-layer markdown memory: knows files and text, nothing of chat or models."""

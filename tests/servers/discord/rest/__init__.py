"""The REST side, one file a family of endpoints."""

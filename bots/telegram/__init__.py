"""The door to Telegram: long polling in, entities and buttons out."""

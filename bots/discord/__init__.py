"""The door to Discord: the gateway in, messages in its Markdown and buttons out."""

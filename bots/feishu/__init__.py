"""The door to Feishu and Lark: a long connection in, message cards out."""

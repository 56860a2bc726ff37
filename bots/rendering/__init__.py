"""From Markdown to styled text that any channel can show: parse, compose, split.

``markdown`` parses, ``compose`` turns the parsed source into ``styled`` text with the help of
``math`` and ``table``, ``split`` cuts it into pieces. All of it is pure and names no platform.
"""

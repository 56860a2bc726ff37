"""The life of a turn: inbox, lanes, the turn itself, outbox."""

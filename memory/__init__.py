"""Three-layer markdown memory: knows files and text, nothing of chat or models.

Every function blocks and may touch the disk; asynchronous callers run it in a thread. The format
for people who edit the files is in ``docs/memory-format.md``.
"""

from memory.document import Audience
from memory.journal import Day, Event, append, read_day, read_events
from memory.layers import LearnerFolder, MemoryBusy, MemoryElsewhere, Profile, Surface
from memory.notes import MAX_NOTE_CHARACTERS, NoteEmpty, NoteTooLong, Remembered, remember
from memory.recall import Item, Section, estimate_tokens, overview, view
from memory.redact import REDACTED, redact

__all__ = [
    "MAX_NOTE_CHARACTERS",
    "REDACTED",
    "Audience",
    "Day",
    "Event",
    "Item",
    "LearnerFolder",
    "MemoryBusy",
    "MemoryElsewhere",
    "NoteEmpty",
    "NoteTooLong",
    "Profile",
    "Remembered",
    "Section",
    "Surface",
    "append",
    "estimate_tokens",
    "overview",
    "read_day",
    "read_events",
    "redact",
    "remember",
    "view",
]

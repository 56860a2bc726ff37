"""A Telegram Bot API server for tests: strict about the platform's rules, easy to steer.

``with TelegramServer() as server: ada = server.user(7, "Ada"); ada.say("hello")``
"""

from tests.servers.telegram.chats import Chat, Topic
from tests.servers.telegram.limits import LIFTED, USUAL, Rates
from tests.servers.telegram.people import Person
from tests.servers.telegram.press import Press
from tests.servers.telegram.server import TelegramServer
from tests.servers.telegram.shown import Shown

__all__ = [
    "LIFTED",
    "USUAL",
    "Chat",
    "Person",
    "Press",
    "Rates",
    "Shown",
    "TelegramServer",
    "Topic",
]

"""A Discord server for tests: strict about the platform's rules, easy to steer.

``with DiscordServer() as server: ada = server.user(7, "Ada"); ada.say("hello")``
"""

from tests.servers.discord.channels import Channel, Thread
from tests.servers.discord.chats import Chat
from tests.servers.discord.files import Upload
from tests.servers.discord.guilds import Guild
from tests.servers.discord.intents import Event
from tests.servers.discord.limits import LIFTED, USUAL, Bucket, Rates
from tests.servers.discord.people import Person
from tests.servers.discord.permissions import Permission
from tests.servers.discord.press import Press
from tests.servers.discord.server import DiscordServer
from tests.servers.discord.shown import Shown

__all__ = [
    "LIFTED",
    "USUAL",
    "Bucket",
    "Channel",
    "Chat",
    "DiscordServer",
    "Event",
    "Guild",
    "Permission",
    "Person",
    "Press",
    "Rates",
    "Shown",
    "Thread",
    "Upload",
]

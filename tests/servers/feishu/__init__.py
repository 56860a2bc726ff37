"""A Feishu open platform server for tests: strict about the platform's rules, easy to steer.

``with FeishuServer() as server: ada = server.user("Ada"); ada.say("hello")``
"""

from tests.servers.feishu.chats import Chat, Topic
from tests.servers.feishu.delivery import Ack, Delivery
from tests.servers.feishu.limits import LIFTED, USUAL, Clock, Rates
from tests.servers.feishu.people import Bot, Person
from tests.servers.feishu.press import Press
from tests.servers.feishu.server import FeishuServer
from tests.servers.feishu.shown import Reaction, Shown

__all__ = [
    "LIFTED",
    "USUAL",
    "Ack",
    "Bot",
    "Chat",
    "Clock",
    "Delivery",
    "FeishuServer",
    "Person",
    "Press",
    "Rates",
    "Reaction",
    "Shown",
    "Topic",
]

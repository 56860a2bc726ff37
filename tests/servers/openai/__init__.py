"""An OpenAI-compatible Chat Completions server for tests: scripted, and strict about requests.

``with OpenAIServer() as server: server.script(Reply("hello", chunks=4))``
"""

from tests.servers.openai.replies import Reply, ToolCall, Trouble
from tests.servers.openai.server import OpenAIServer

__all__ = ["OpenAIServer", "Reply", "ToolCall", "Trouble"]

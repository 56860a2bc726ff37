"""The same model and server as for the client's tests."""

from tests.llm.conftest import model, server

__all__ = ["model", "server"]

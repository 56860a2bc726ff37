"""Every interface the server has, with the scopes it asks for."""

from __future__ import annotations

from tests.servers.feishu import account, cardkit, media, messages
from tests.servers.feishu.call import Route, route

_SEND = ("im:message", "im:message:send_as_bot")
_READ = ("im:message", "im:message:readonly")
_REACT = ("im:message", "im:message.reactions:write_only")
_CARD = ("cardkit:card:write",)
_CONTACT = ("contact:contact.base:readonly", "contact:contact:readonly_as_app")
_SELF = ("application:application:self_manage", "admin:app.info:readonly")
_APP = "/application/v6/applications/:app_id"
_MESSAGE = "/im/v1/messages/:message_id"
_ENTITY = "/cardkit/v1/cards/:card_id"

ROUTES: tuple[Route, ...] = (
    route(
        "auth.v3.tenant_access_token.internal",
        "POST",
        "/auth/v3/tenant_access_token/internal",
        account.token,
        token=False,
    ),
    route("bot.v3.info", "GET", "/bot/v3/info", account.bot_info),
    route("application.v6.scope.list", "GET", "/application/v6/scopes", account.list_scopes),
    route("application.v6.application.get", "GET", _APP, account.get_application, _SELF),
    route(
        "application.v6.application_app_version.get",
        "GET",
        f"{_APP}/app_versions/:version_id",
        account.get_version,
        _SELF,
    ),
    route("contact.v3.user.batch", "GET", "/contact/v3/users/batch", account.batch_users, _CONTACT),
    route("contact.v3.user.get", "GET", "/contact/v3/users/:user_id", account.get_user, _CONTACT),
    route(
        "im.v1.chat.get",
        "GET",
        "/im/v1/chats/:chat_id",
        account.get_chat,
        ("im:chat", "im:chat:readonly"),
    ),
    route("im.v1.message.create", "POST", "/im/v1/messages", messages.create, _SEND),
    route("im.v1.message.list", "GET", "/im/v1/messages", messages.list_messages, _READ),
    route("im.v1.message.reply", "POST", f"{_MESSAGE}/reply", messages.reply, _SEND),
    route("im.v1.message.patch", "PATCH", _MESSAGE, messages.patch, (*_SEND, "im:message:update")),
    route("im.v1.message.update", "PUT", _MESSAGE, messages.update, (*_SEND, "im:message:update")),
    route("im.v1.message.delete", "DELETE", _MESSAGE, messages.delete, _SEND),
    route("im.v1.message.get", "GET", _MESSAGE, messages.get, _READ),
    route(
        "im.v1.message_resource.get",
        "GET",
        f"{_MESSAGE}/resources/:file_key",
        media.download,
        (*_READ, "im:resource"),
    ),
    route("im.v1.message_reaction.create", "POST", f"{_MESSAGE}/reactions", messages.react, _REACT),
    route(
        "im.v1.message_reaction.delete",
        "DELETE",
        f"{_MESSAGE}/reactions/:reaction_id",
        messages.unreact,
        _REACT,
    ),
    route("im.v1.image.create", "POST", "/im/v1/images", media.upload_image, ("im:resource",)),
    route("im.v1.file.create", "POST", "/im/v1/files", media.upload_file, ("im:resource",)),
    route("cardkit.v1.card.create", "POST", "/cardkit/v1/cards", cardkit.create, _CARD),
    route(
        "cardkit.v1.card.id_convert", "POST", "/cardkit/v1/cards/id_convert", cardkit.convert, _CARD
    ),
    route("cardkit.v1.card.update", "PUT", _ENTITY, cardkit.update, _CARD),
    route("cardkit.v1.card.settings", "PATCH", f"{_ENTITY}/settings", cardkit.settings, _CARD),
    route(
        "cardkit.v1.card_element.content",
        "PUT",
        f"{_ENTITY}/elements/:element_id/content",
        cardkit.content,
        _CARD,
    ),
)


def find(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Return the interface a request is meant for, with its path parameters."""
    for one in ROUTES:
        if one.method == method and (found := one.pattern.fullmatch(path)) is not None:
            return one, found.groupdict()
    return None

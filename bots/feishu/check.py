"""What can be asked about an app before it runs: secret, platform, bot, permissions, subscriptions.

Nothing is changed, and no connection is opened: a second one would take events from a tutor that
runs. An app is shown its own subscriptions only with a permission for that; without it, the page to
look at is named instead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from bots.feishu.failures import (
    CALL_ERRORS,
    NO_BOT,
    WRONG_PLATFORM,
    WRONG_SECRET,
    CallError,
    is_final,
    is_missing_scope,
    reason_of,
)
from bots.feishu.receive import EDITED, MESSAGE, PRESS
from bots.feishu.rest import NO_CODE, NoTokenError, Refusal, Rest
from bots.feishu.settings import ORIGINS, FeishuSettings
from bots.findings import Finding, fault, ok, unknown, warning
from core.environment import variable
from core.i18n import N_, Words

NEEDED: Final[Mapping[str, str]] = {
    "im:message": N_("answers, quoted messages, the sign that it is working"),
    "im:message.p2p_msg:readonly": N_("private messages"),
    "im:message.group_at_msg:readonly": N_("mentions in groups"),
}
"""Permissions without which it does not work, and what each is for."""

_STANDS_IN: Final[Mapping[str, frozenset[str]]] = {
    "im:message.group_at_msg:readonly": frozenset({"im:message.group_msg"}),
}
"""Larger permissions that hold another one."""

WELCOME: Final[Mapping[str, str]] = {
    "im:resource": N_("pictures, files and recordings"),
    "cardkit:card:write": N_("answers that grow before one's eyes"),
    "im:chat:readonly": N_("topics told apart from groups"),
    "contact:contact.base:readonly": N_("names of people"),
    "contact:user.base:readonly": N_("names of people"),
    "im:user_agent:read": N_("languages of people"),
}
"""Permissions without which something is missing."""

_NOT_INSTALLED: Final = 212100
_GRANTED: Final = 1
_ENABLED: Final = 2
"""``activate_status`` of an app that may be used (bot/v3/info)."""


async def check(settings: FeishuSettings, words: Words) -> AsyncIterator[Finding]:
    """Look at the app of these settings, which have an id and a secret."""
    assert settings.app_id is not None
    assert settings.app_secret is not None
    rest = Rest(settings.app_id, settings.app_secret, settings.domain)
    look = _Look(settings, rest, words)
    try:
        async for finding in look.findings():
            yield finding
    except CALL_ERRORS as error:
        yield look.unreachable(error)
    except (KeyError, TypeError, AttributeError):  # an answer, but not this platform's
        yield look.unreachable(Refusal(200, NO_CODE, ""))
    finally:
        await rest.close()


class _Look:
    """One look at one app."""

    def __init__(self, settings: FeishuSettings, rest: Rest, words: Words) -> None:
        self._settings = settings
        self._rest = rest
        self._words = words
        self._console = f"{settings.domain}/app/{settings.app_id}"
        """The app's pages; their names come behind it."""

    async def findings(self) -> AsyncIterator[Finding]:
        """Yield what there is to say. Raises what calls raise, and for answers of no use."""
        words = self._words
        try:
            bot = (await self._rest.call("GET", "/bot/v3/info"))["bot"]
        except CALL_ERRORS as error:
            yield await self._refused(error)
            return
        yield ok(words("{name} answers.", name=str(bot.get("app_name") or self._settings.app_id)))
        if bot.get("activate_status", _ENABLED) != _ENABLED:
            yield self._not_published()
        yield await self._connection()
        async for finding in self._scopes():
            yield finding
        async for finding in self._subscriptions():
            yield finding

    async def _refused(self, error: CallError) -> Finding:
        """Say why the bot cannot be had: secret, platform, or no bot."""
        cause = error.__cause__ if isinstance(error, NoTokenError) else error
        if cause is not error and isinstance(cause, Refusal) and is_final(cause):
            # Only the address of the long connection tells a wrong platform from a wrong secret.
            try:
                await self._rest.endpoint()
            except CALL_ERRORS as other:
                if isinstance(other, Refusal) and other.code == WRONG_PLATFORM:
                    return self._wrong_platform()
            return self._wrong_secret()
        if isinstance(cause, Refusal) and cause.code in NO_BOT:
            return fault(
                self._words("This app has no bot."),
                self._words(
                    "Open {page}, Add Features, add Bot; then create a version and publish it.",
                    page=self._console,
                ),
            )
        return self.unreachable(error)

    async def _connection(self) -> Finding:
        """Ask for the address of a long connection, without opening it."""
        words = self._words
        try:
            await self._rest.endpoint()
        except Refusal as refusal:
            if refusal.code == WRONG_PLATFORM:
                return self._wrong_platform()
            if refusal.code in WRONG_SECRET:
                return self._wrong_secret()
            if not is_final(refusal):
                return self.unreachable(refusal)
            return fault(
                words(
                    "Feishu opens no long connection for this app ({reason}).",
                    reason=reason_of(refusal),
                ),
                self._choose_long_connection(),
            )
        return ok(words("A long connection can be opened."))

    async def _scopes(self) -> AsyncIterator[Finding]:
        words = self._words
        try:
            answer = await self._rest.call("GET", "/application/v6/scopes")
        except Refusal as refusal:
            if refusal.code == _NOT_INSTALLED:
                yield self._not_published()
            else:
                yield self._compare_scopes()
            return
        granted = {
            one.get("scope_name")
            for one in answer.get("data", {}).get("scopes") or ()
            if one.get("grant_status") == _GRANTED
        }
        page = f"{self._console}/auth"
        missing = [
            scope
            for scope in NEEDED
            if scope not in granted and not _STANDS_IN.get(scope, frozenset()) & granted
        ]
        for scope in missing:
            yield fault(
                words(
                    "The permission {scope} is missing ({purpose}).",
                    scope=scope,
                    purpose=words(NEEDED[scope]),
                ),
                words(
                    "Open {page} (Permissions & Scopes), add it, then create a version and publish "
                    "it.",
                    page=page,
                ),
            )
        if not missing:
            yield ok(words("It has the permissions it needs."))
        unwelcome = [scope for scope in WELCOME if scope not in granted]
        if unwelcome:
            listed = [f"{scope} ({words(WELCOME[scope])})" for scope in unwelcome]
            yield warning(
                words("It works better with: {scopes}", scopes=", ".join(listed)),
                words(
                    "Open {page} (Permissions & Scopes), add what you like, then create a version "
                    "and publish it.",
                    page=page,
                ),
            )

    async def _subscriptions(self) -> AsyncIterator[Finding]:
        app_id = self._settings.app_id
        try:
            answer = await self._rest.call(
                "GET", f"/application/v6/applications/{app_id}", query={"lang": "en_us"}
            )
            app = answer["data"]["app"]
            event, callback = app.get("event"), app.get("callback_info") or app.get("callback")
            events = (event or {}).get("subscribed_events") or await self._published(app)
        except Refusal as refusal:
            yield self._compare_subscriptions(told=is_missing_scope(refusal))
            return
        except (KeyError, TypeError):
            yield self._compare_subscriptions(told=False)
            return
        if events is not None and EDITED not in events:
            yield ok(
                self._words("It does not hear when somebody edits a message."),
                self._words(
                    "If you like it to: open {page} (Events & Callbacks, Event Configuration), Add "
                    "Events, {event}, where the console offers it; then create a version and "
                    "publish it.",
                    page=f"{self._console}/event",
                    event=EDITED,
                ),
            )
        found = list(self._delivery(event, callback))
        if events is not None and MESSAGE not in events:
            found.append(self._missing_event())
        if callback is not None and PRESS not in (callback.get("subscribed_callbacks") or ()):
            found.append(self._missing_callback())
        for finding in found:
            yield finding
        if not found:
            if events is None or callback is None:
                yield self._compare_subscriptions(told=False)
            else:
                yield ok(self._words("Events and callbacks come through the long connection."))

    async def _published(self, app: Mapping[str, Any]) -> list[str] | None:
        """Return the events of the version in use; None where they are not told."""
        version = app.get("online_version_id")
        if not version:
            return None
        answer = await self._rest.call(
            "GET",
            f"/application/v6/applications/{self._settings.app_id}/app_versions/{version}",
            query={"lang": "en_us"},
        )
        infos = answer["data"]["app_version"].get("event_infos")
        return None if infos is None else [str(one.get("event_type")) for one in infos]

    def _delivery(self, event: Any, callback: Any) -> Iterator[Finding]:
        ways = ((event or {}).get("subscription_type"), (callback or {}).get("callback_type"))
        if "webhook" in ways:
            yield fault(
                self._words("Events or callbacks are sent to a web address, not to this tutor."),
                self._choose_long_connection(),
            )

    # What is said in more than one place

    def _missing_event(self) -> Finding:
        return fault(
            self._words(
                "The app has not subscribed to {event}, so it hears nothing.", event=MESSAGE
            ),
            self._words(
                "Open {page} (Events & Callbacks, Event Configuration), Add Events, {event}; then "
                "create a version and publish it.",
                page=f"{self._console}/event",
                event=MESSAGE,
            ),
        )

    def _missing_callback(self) -> Finding:
        return fault(
            self._words(
                "The app has not subscribed to {callback}, so its buttons do nothing.",
                callback=PRESS,
            ),
            self._words(
                "Open {page} (Events & Callbacks, Callback Configuration), Add Callback, "
                "{callback}; then create a version and publish it.",
                page=f"{self._console}/event",
                callback=PRESS,
            ),
        )

    def _choose_long_connection(self) -> str:
        return self._words(
            "Start `partners serve`, then open {page} (Events & Callbacks) and choose the long "
            "connection as subscription mode of both Event Configuration and Callback "
            "Configuration; then create a version and publish it.",
            page=f"{self._console}/event",
        )

    def _compare_subscriptions(self, *, told: bool) -> Finding:
        """Name the page to look at. ``told``: with one more permission it could be asked."""
        hint = self._words(
            "Look yourself: on {page} (Events & Callbacks) the long connection must be chosen for "
            "both, with the event {event} and the callback {callback}; with the event {edited}, "
            "where the console offers it, it also hears of edits.",
            page=f"{self._console}/event",
            event=MESSAGE,
            callback=PRESS,
            edited=EDITED,
        )
        if told:
            hint += " " + self._words(
                "With the permission application:application:self_manage it is checked here."
            )
        return unknown(self._words("What it has subscribed to cannot be asked."), hint)

    def _compare_scopes(self) -> Finding:
        return unknown(
            self._words("Its permissions cannot be asked."),
            self._words(
                "Look yourself: {page} (Permissions & Scopes) must list {scopes}.",
                page=f"{self._console}/auth",
                scopes=", ".join(NEEDED),
            ),
        )

    def _not_published(self) -> Finding:
        return fault(
            self._words("The app is not in use in your organisation."),
            self._words(
                "Open {page} (Version Management & Release), create a version, publish it, and let "
                "an administrator approve it.",
                page=f"{self._console}/version",
            ),
        )

    def _wrong_platform(self) -> Finding:
        here = next((name for name, url in ORIGINS.items() if url == self._settings.domain), None)
        other = "lark" if here == "feishu" else "feishu"
        name = variable(type(self._settings), "domain")
        return fault(
            self._words(
                "This app is not on {domain}; Feishu and Lark are two platforms.",
                domain=self._settings.domain,
            ),
            self._words("Write {name}={other} into .env.", name=name, other=other),
        )

    def _wrong_secret(self) -> Finding:
        model = type(self._settings)
        return fault(
            self._words(
                "Feishu does not accept {id} with {secret}.",
                id=variable(model, "app_id"),
                secret=variable(model, "app_secret"),
            ),
            self._words(
                "Open {origin}/app, choose your app, Credentials & Basic Info, and copy both "
                "again. An app of Lark needs {domain}=lark.",
                origin=self._settings.domain,
                domain=variable(model, "domain"),
            ),
        )

    def unreachable(self, error: CallError) -> Finding:
        """Say that no answer came, or none of use."""
        return fault(
            self._words(
                "Feishu cannot be reached at {address} ({reason}).",
                address=self._settings.domain,
                reason=reason_of(error),
            ),
            self._words(
                "Check this machine's connection, and {name} if it is set.",
                name=variable(type(self._settings), "domain"),
            ),
        )

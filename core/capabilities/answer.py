"""Answering with a capability: its prompt, its tools and its labels, given to the one loop."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from core.capabilities import materials
from core.capabilities.capability import Capability
from core.capabilities.prompt import prompt, small_prompt
from core.context import UnifiedContext
from core.llm.port import ChatModel
from core.loop.call import Emit
from core.loop.gates import Budget, Outcome, prompt_limit
from core.loop.host import Decision, LoopHost
from core.loop.loop import run_loop
from core.loop.saved import RoundDone
from core.tools.registry import Tool, ToolContext
from personas.persona import Persona


async def answer(
    capability: Capability,
    context: UnifiedContext,
    persona: Persona,
    model: ChatModel,
    tools: Sequence[Tool],
    budget: Budget,
    emit: Emit,
    host: LoopHost | None = None,
    resume: RoundDone | None = None,
    decisions: Mapping[str, Decision] = MappingProxyType({}),
) -> Outcome:
    """Answer ``context.text`` as ``persona``; see ``run_loop`` for the last three.

    Raises nothing but cancellation, and what ``host`` raises.
    """
    if persona.model.name is not None:
        model = model.named(persona.model.name)
    nonce = secrets.token_hex(4)
    task = capability.prompts.of(context.language, small=model.small)
    if model.small:
        messages = small_prompt(context, persona, task, nonce)
    else:
        room = prompt_limit(budget, model.window)
        file_tokens = materials.file_tokens(context, room)
        messages = prompt(context, persona, task, nonce, file_tokens)
    return await run_loop(
        model=model,
        messages=messages,
        tools=tools,
        context=ToolContext(
            learner_id=context.learner_id,
            zone=context.zone,
            language=context.language,
            now=context.now,
            conversation_id=context.conversation_id,
        ),
        budget=budget,
        emit=emit,
        host=host,
        vocabulary=capability.vocabulary,
        resume=resume,
        decisions=decisions,
    )

"""Items that are asked, the evidence of answers, and quizzes."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "item",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("learner_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("objective", sa.String(), nullable=True),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("difficulty", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("created_from", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_item_learner_id", "item", ["learner_id"])
    op.create_index("ix_item_objective", "item", ["objective"])
    op.create_table(
        "evidence",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("learner_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("item_id", sa.String(), sa.ForeignKey("item.id"), nullable=False),
        sa.Column("objective", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("difficulty", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("hint_level", sa.Integer(), nullable=False),
        sa.Column("first_attempt", sa.Boolean(), nullable=False),
        sa.Column("grader", sa.String(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("study_day", sa.Date(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("criteria", sa.String(), nullable=False),
        sa.Column("supersedes", sa.String(), sa.ForeignKey("evidence.id"), nullable=True),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_evidence_objective", "evidence", ["learner_id", "objective"])
    op.create_table(
        "quiz",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("learner_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("conversation_id", sa.String(), sa.ForeignKey("conversation.id"), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("items", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_quiz_learner_id", "quiz", ["learner_id"])
    op.create_index("ix_quiz_open", "quiz", ["conversation_id", "state"])
    op.create_table(
        "quizanswer",
        sa.Column("quiz_id", sa.String(), sa.ForeignKey("quiz.id"), primary_key=True),
        sa.Column("nth", sa.Integer(), primary_key=True),
        sa.Column("learner_id", sa.String(), sa.ForeignKey("learner.id"), primary_key=True),
        sa.Column("hint_level", sa.Integer(), nullable=False),
        sa.Column("given", sa.String(), nullable=True),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("evidence_id", sa.String(), sa.ForeignKey("evidence.id"), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )

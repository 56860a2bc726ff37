"""What learners ask to be reminded of."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "reminder",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("learner_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("wall", sa.String(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_reminder_learner_id", "reminder", ["learner_id"])
    op.create_index("ix_reminder_due", "reminder", ["sent_at", "due_at"])

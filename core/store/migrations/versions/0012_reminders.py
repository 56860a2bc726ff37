"""Reminders on some days only, of some length, and put off."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add what a learner chooses; until then it is every day, and as many as there may be."""
    op.add_column(
        "learner",
        sa.Column("reminder_days", sa.String(), nullable=False, server_default="1234567"),
    )
    op.add_column("learner", sa.Column("reminder_cards", sa.Integer(), nullable=True))
    op.add_column("learner", sa.Column("snoozed_until", sa.DateTime(timezone=True), nullable=True))

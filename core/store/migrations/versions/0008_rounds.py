"""Turns that can be taken up again, wait for a decision, and be answered anew."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add what they need; of earlier turns the persona is not known."""
    op.add_column("inbound", sa.Column("rounds", sa.String(), nullable=True))
    op.add_column("turn", sa.Column("persona", sa.String(), nullable=True))
    op.add_column("line", sa.Column("superseded_by", sa.String(), nullable=True))
    op.add_column("outgoing", sa.Column("more_edits", sa.String(), nullable=True))
    op.create_table(
        "consent",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("turn_id", sa.String(), sa.ForeignKey("turn.id"), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("calls", sa.String(), nullable=False),
        sa.Column("rounds", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_consent_waiting", "consent", ["state", "expires_at"])

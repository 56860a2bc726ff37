"""Accounts on several channels that are one learner."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables, and the column that says where a learner went."""
    # Both databases take it like this; Alembic would make a new table for it on SQLite.
    op.execute("ALTER TABLE learner ADD COLUMN merged_into VARCHAR REFERENCES learner (id)")
    op.create_table(
        "linkcode",
        sa.Column("code", sa.String(), primary_key=True),
        sa.Column("learner_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("account_id", sa.String(), sa.ForeignKey("account.id"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
    )
    op.create_index("ix_linkcode_learner_id", "linkcode", ["learner_id"])
    op.create_table(
        "linkguess",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("account_id", sa.String(), sa.ForeignKey("account.id"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_linkguess_account_id", "linkguess", ["account_id"])
    op.create_table(
        "link",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("code", sa.String(), nullable=False, unique=True),
        sa.Column("kept_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("other_id", sa.String(), sa.ForeignKey("learner.id"), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("moved", sa.String(), nullable=False),
        sa.Column("undo_cause", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_link_kept_id", "link", ["kept_id"])
    op.create_index("ix_link_state", "link", ["state"])

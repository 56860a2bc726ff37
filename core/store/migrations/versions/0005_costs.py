"""What a turn cost and which model answered, and the way to today's turns."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns; of earlier turns neither is known."""
    op.add_column("turn", sa.Column("model", sa.String(), nullable=True))
    op.add_column("turn", sa.Column("cost", sa.Float(), nullable=True))
    op.create_index("ix_turn_spent", "turn", ["ended_at", "learner_id"])

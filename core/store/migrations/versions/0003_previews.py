"""Messages that are answered together, and previews that the answer takes the place of."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns; nothing that is there is a part of anything, or has a preview."""
    op.add_column("inbound", sa.Column("part_of", sa.Integer(), nullable=True))
    op.create_index("ix_inbound_part_of", "inbound", ["part_of"])
    op.add_column("inbound", sa.Column("preview", sa.String(), nullable=True))
    op.add_column("outgoing", sa.Column("preview", sa.String(), nullable=True))

"""When the part of a message that is being sent was first tried."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; what is being sent now counts as tried when its row was made."""
    op.add_column("outgoing", sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE outgoing SET tried_at = created_at WHERE state = 'sending'")

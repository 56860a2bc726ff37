"""The language a stranger is spoken with."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column."""
    op.add_column("accessrequest", sa.Column("language", sa.String(), nullable=True))

"""Turns know the capability that answered."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column; earlier turns were all talk, which is what an empty one is taken for."""
    op.add_column("turn", sa.Column("capability", sa.String(), nullable=True))

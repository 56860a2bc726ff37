"""The database: its tables, its sessions and its one history of migrations."""

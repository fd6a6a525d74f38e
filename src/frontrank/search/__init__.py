"""Search: what searchers ask, what an engine shows them, and which unfetched page would be shown."""

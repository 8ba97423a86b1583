"""The gateway: the routes of providers, behind which a conversation is stored and folded."""

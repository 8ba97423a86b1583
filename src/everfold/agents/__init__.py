"""Agents, hands and the tools that they have. Imported only when asked for; needs the extra `agents`."""

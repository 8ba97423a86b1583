"""One session's log: messages, their wire and visible forms, the state row, the budget, and what an append does."""

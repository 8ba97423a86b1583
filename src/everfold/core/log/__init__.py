"""One session's log: messages, their wire and visible forms, the state row, the room, and what an append does."""

-- A message that is retracted is found by search no more, so its vectors go with it, as an erased message's do.

CREATE TRIGGER messages_retracted AFTER UPDATE OF kind ON messages WHEN NEW.kind = 'retracted'
BEGIN
    DELETE FROM vectors WHERE kind = 'message' AND owner_key = OLD.id;
END;

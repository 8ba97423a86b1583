"""What a sentence says: the rules of statements, and the extract lines that a message gives."""

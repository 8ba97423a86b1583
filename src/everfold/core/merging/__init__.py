"""What becomes of a candidate or an edit, given what is known."""

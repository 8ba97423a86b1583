"""What is read of a text whatever it says: tokens, words, stems, dates, quotes; and the fixed sentences of Everfold."""

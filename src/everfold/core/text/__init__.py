"""What is read of any text: tokens, words, stems, dates, quotes; and the fixed sentences of Everfold."""

"""What may be released: free words, transition systems, lexicons; and the paper's automata."""

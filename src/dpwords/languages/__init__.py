"""The languages whose words may be released (free words, transition systems, lexicons), and the paper's automata."""

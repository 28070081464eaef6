"""Languages from files and other packages, and the notation of words as text."""

"""Languages from files and other packages, and how words are written as text."""

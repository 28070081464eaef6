"""Languages from files and from the objects of other packages, and back."""

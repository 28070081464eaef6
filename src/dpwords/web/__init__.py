"""The local page: the same library calls as the command line, in a browser on the same machine."""

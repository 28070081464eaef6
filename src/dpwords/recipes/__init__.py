"""The one description of a release: from and to options, Python arguments and JSON, and how its parts are written."""

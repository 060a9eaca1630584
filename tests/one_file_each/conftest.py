"""The files to add are tests only where they are added."""

collect_ignore = ["additions"]

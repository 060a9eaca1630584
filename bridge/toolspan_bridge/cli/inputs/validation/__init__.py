"""Options of ``validate``: what is run, compared, recorded, and which suites."""

"""The HTTP client of the providers: pool, deadlines, attempts and streamed answers."""

"""What a caller chose for a session and its questions: plain data, by whatever way it came."""

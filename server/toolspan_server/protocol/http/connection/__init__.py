"""One HTTP connection: uvicorn's protocol class, held to limits of time and memory."""

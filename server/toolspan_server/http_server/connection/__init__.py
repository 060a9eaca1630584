"""One HTTP connection: uvicorn's protocol class, with limits of time and memory."""

"""The app: what it holds, how requests come to endpoints, and how it is served."""

"""The running server: config snapshots, reload, sources at work, views for endpoints, health, metrics."""

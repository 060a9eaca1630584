"""The running server: config snapshots, reload, running sources, views for endpoints, health, metrics."""

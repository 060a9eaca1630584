"""Resources and prompts as clients see them: those of the config, and those of upstreams behind them."""

"""What the protocol keeps between requests: connections, running calls, tasks, tokens, memory budgets."""

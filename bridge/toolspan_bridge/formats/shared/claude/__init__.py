"""Anthropic's Messages body, which Anthropic and Bedrock's InvokeModel both use."""

"""The steps around a tool's kind, one idea each: time limit, cache, rate limit, approval, result …"""

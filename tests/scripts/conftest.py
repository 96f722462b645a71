from planners import cache, in_cache

__all__ = ["cache", "in_cache"]

"""Relations and questions, damaged on purpose."""

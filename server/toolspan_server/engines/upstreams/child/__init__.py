"""A server that is a process of ours: started, told to end, and its last words."""

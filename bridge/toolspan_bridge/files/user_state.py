"""The folder of what is remembered for one user, whatever the folder that a command runs in."""

from toolspan_server.common.state.folder import user_state_directory

__all__ = ["user_state_directory"]

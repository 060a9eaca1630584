"""The keys of the input line that differ from those of any line editor."""

from __future__ import annotations

from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from .pastes import Pastes

__all__ = ["keys_of"]

_SHOW = "/show"


def keys_of(pastes: Pastes) -> KeyBindings:
    """Enter sends, but for a line that ends with ``\\``; Alt+Enter begins another line; a long paste is
    folded; Ctrl+C clears what is there, else raises ``KeyboardInterrupt``; Ctrl+X Ctrl+E opens an editor;
    Ctrl+O, where nothing is typed, shows whole what was last shown in short."""
    keys, at_the_line = KeyBindings(), has_focus(DEFAULT_BUFFER)  # and not in the search of the history

    @keys.add("enter", filter=at_the_line)
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        before = buffer.document.text_before_cursor
        if (len(before) - len(before.rstrip("\\"))) % 2 and not buffer.document.text_after_cursor.strip():
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=at_the_line)
    def newline(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add(Keys.BracketedPaste, filter=at_the_line)
    def paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(pastes.fold(text))

    @keys.add("backspace", filter=at_the_line)
    def backspace(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        buffer.delete_before_cursor(len(pastes.ending(buffer.document.text_before_cursor)) or event.arg)

    @keys.add("c-c", filter=at_the_line)
    @keys.add("<sigint>", filter=at_the_line)
    def interrupt(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.text:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")
            return
        buffer.append_to_history()
        buffer.reset()

    @keys.add("c-o", filter=at_the_line)
    def show(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.text:
            buffer.text = _SHOW
            event.app.exit(result=_SHOW)

    @keys.add("c-x", "c-e", filter=at_the_line)
    def edit(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        buffer.text = pastes.expanded(buffer.text)
        buffer.open_in_editor()

    return keys

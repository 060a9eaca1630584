"""Realistic values by what a parameter is called. Each line: the words of its name, then values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

_TEXTS: Mapping[str, Sequence[str]] = {
    "latlong coordinates": ("48.8566, 2.3522", "40.7128, -74.0060", "35.6762, 139.6503"),
    "timezone tz zone": ("Europe/Berlin", "America/Chicago", "Asia/Tokyo", "Australia/Sydney"),
    "city location place town origin address": ("Paris", "Lisbon", "Chicago", "Nairobi", "Osaka", "Toronto"),
    "country": ("Portugal", "Japan", "Kenya", "Canada"),
    "region state": ("Bavaria", "Ontario", "Tuscany", "Oregon"),
    "airport": ("LIS", "ORD", "NRT", "YYZ"),
    "currency": ("EUR", "USD", "JPY", "CHF"),
    "language lang locale": ("French", "Portuguese", "Japanese", "German"),
    "symbol ticker stock": ("MSFT", "AAPL", "SAP", "SONY"),
    "email mail recipient": (
        "ann.lee@example.com",
        "omar@example.org",
        "info@example.net",
        "kim@example.com",
    ),
    "phone telephone mobile": ("+49 30 901820", "+1 312 555 0142", "+81 3 5555 0101"),
    "url uri link website href": (
        "https://example.com/articles/42",
        "https://example.org/guides/setup",
        "https://example.net/news/today",
        "https://example.com/products/lamp",
    ),
    "folder directory dir workspace": (
        "/home/ann/projects",
        "/srv/photos",
        "/data/reports",
        "/home/omar/music",
    ),
    "path file filename filepath": (
        "/home/ann/notes.txt",
        "/srv/photos/harbour.png",
        "/data/reports/march.csv",
        "/home/omar/todo.md",
    ),
    "document": ("docs/setup.md", "src/main.py", "README.md", "docs/tides.md"),
    "picture image photo": ("/srv/photos/harbour.png", "/srv/photos/lamp.jpg", "/home/ann/boat.png"),
    "javascript": ("() => document.title", "() => window.innerWidth", "() => location.href"),
    "paths files": ("/home/ann/notes.txt", "/data/reports/march.csv", "/home/omar/todo.md", "/srv/list.txt"),
    "expression formula calculation": ("17 * 23", "(45 + 15) / 4", "2 ** 10 - 24", "99 - 13 * 3"),
    "sql": (
        "SELECT name FROM customers WHERE city = 'Lisbon'",
        "SELECT count(*) FROM orders",
        "SELECT title FROM books ORDER BY year",
    ),
    "insert": (
        "INSERT INTO orders (item, price) VALUES ('lamp', 45)",
        "UPDATE customers SET city = 'Lisbon' WHERE id = 7",
        "DELETE FROM orders WHERE price = 0",
    ),
    "create": (
        "CREATE TABLE boats (name TEXT, length REAL)",
        "CREATE TABLE lamps (room TEXT, broken INTEGER)",
    ),
    "glob": ("*.md", "*.py", "report-*.csv", "**/*.json"),
    "date day birthday deadline checkin": ("2026-03-14", "2026-05-02", "2026-09-21", "2026-11-30"),
    "checkout until": ("2027-01-15", "2027-02-20", "2027-03-08"),
    "time hour": ("14:30", "09:15", "18:45", "07:00"),
    "month": ("March", "June", "October"),
    "username user owner author assignee login account": ("ann-lee", "omar-haddad", "kim-park", "octo-lab"),
    "repo repository project package library": ("garden-planner", "tide-tables", "bread-timer", "map-tiles"),
    "branch head base ref": ("release-2", "feature-search", "fix-login", "main"),
    "sha commit": ("9f8e7d6c5b4a", "1a2b3c4d5e6f", "0b1c2d3e4f5a"),
    "color colour": ("green", "dark blue", "orange"),
    "table": ("customers", "orders", "invoices"),
    "column field": ("city", "price", "created"),
    "database db": ("sales", "library", "inventory"),
    "key": ("Enter", "Escape", "Tab"),
    "product item": ("desk lamp", "garden hose", "coffee grinder"),
    "category tag label topic subject": ("gardening", "astronomy", "sourdough bread", "sailing"),
    "query search question keyword keywords term phrase": (
        "garden irrigation",
        "solar eclipse dates",
        "sourdough starter",
        "train timetable changes",
    ),
    "title summary heading": ("Broken lamp in room 12", "Minutes of the spring meeting", "New tide tables"),
    "message text content body comment note description thought insight value input reason details": (
        "The meeting moved to Friday",
        "Please bring the blue folder",
        "Two lamps in the hall are broken",
        "The boat leaves at noon",
    ),
    "firstname person contact customer employee": ("Ann Lee", "Omar Haddad", "Kim Park", "Ida Berg"),
    "lastname surname": ("Berg", "Haddad", "Park"),
    "company organization organisation org team": ("Octo Lab", "Harbour Bakery", "North Pier Sailing"),
    "element uid target selector": ("e12", "e27", "e31", "e48"),
    "uuid": ("3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b", "7a9c0d12-34e5-4f67-8b90-a1b2c3d4e5f6"),
    "id identifier reference token cursor number code": ("A-4821", "B-1073", "C-2956", "D-6640"),
    "name": ("harbour", "lantern", "meadow", "compass"),
}
_NUMBERS: Mapping[str, Sequence[float]] = {
    "latitude lat": (48.8566, 40.7128, 35.6762),
    "longitude lon lng": (2.3522, -74.006, 139.6503),
    "year": (2024, 2025, 2026),
    "month": (3, 6, 10),
    "page": (2, 3, 4),
    "limit max count results size top": (10, 5, 20),
    "amount price total budget cost": (45.5, 120, 89.9),
    "percent percentage rate": (15, 20, 7.5),
    "age": (34, 27, 61),
    "width": (1280, 1024, 800),
    "height": (720, 768, 600),
    "temperature": (21, 18.5, 30),
    "seconds duration timeout minutes hours": (30, 45, 90),
    "id number index": (42, 17, 128),
}


@cache
def _by_word(numbers: bool) -> Mapping[str, Sequence[str | float]]:
    table: Mapping[str, Sequence[str | float]] = _NUMBERS if numbers else _TEXTS
    return {word: values for words, values in table.items() for word in words.split()}


def texts_for(words: Sequence[str], about: frozenset[str], called: Sequence[str]) -> Sequence[str]:
    """Texts for a parameter whose name has ``words``, of a tool that is ``about`` these and whose own name
    has the words ``called``; empty if none is known."""
    table = _by_word(False)
    if key := _by_sense(frozenset(words), about, called):
        return [str(each) for each in table[key]]
    return [str(each) for each in _found(words, table)]


def _by_sense(words: frozenset[str], about: frozenset[str], called: Sequence[str]) -> str:
    """The row of a name that means different things in tools of different sorts; empty for any other."""
    senses = (
        ({"query", "sql", "statement"}, "sql" in about, _statement(about)),
        ({"source", "destination", "from", "to"}, "file" in about, "path"),
        ({"pattern", "glob", "globs"}, True, "glob"),
        ({"code", "script", "function"}, bool({"javascript", "snippet"} & about), "javascript"),
        ({"target"}, "branch" in about, "branch"),
        ({"path"}, bool({"directory", "dir", "folder", "tree", "search"} & set(called)), "folder"),
        ({"path"}, bool({"repo", "repository"} & words), "folder"),
        ({"path"}, bool({"media", "image", "photo", "picture"} & set(called)), "picture"),
        ({"path"}, "repository" in about, "document"),
    )
    return next((row for names, holds, row in senses if holds and names & words), "")


def _statement(about: frozenset[str]) -> str:
    return next((row for row in ("insert", "create") if row in about), "sql")


def numbers_for(words: Sequence[str]) -> Sequence[float]:
    """Numbers for a parameter whose name has ``words``; empty if none is known."""
    return [float(each) for each in _found(words, _by_word(True))]


def _found(words: Sequence[str], table: Mapping[str, Sequence[str | float]]) -> Sequence[str | float]:
    joined = "".join(words)
    named = [joined, *reversed(words), *(word.removesuffix("s") for word in reversed(words))]
    return next((table[word] for word in named if word in table), ())

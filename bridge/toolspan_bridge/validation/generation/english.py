"""Words of names and descriptions, as a person would say them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_VERBS = (
    "accept add analyze annotate append apply approve archive ask assign attach audit authenticate book "
    "browse build buy calculate call cancel capture change check classify clear click clone close combine "
    "comment commit compare compress compute configure confirm connect convert copy count create cut "
    "debug decline decode decrypt define delete deliver demonstrate deploy describe detect disable "
    "disconnect dismiss display download drag draw drop duplicate echo edit emulate enable encode encrypt "
    "end estimate evaluate exchange execute expand explain export extract fetch fill filter find fix "
    "follow force fork format forward generate get give go grant handle hide highlight hover identify "
    "import index inform insert inspect install invite issue join label launch like link list load locate "
    "lock log look make mark match measure merge monitor move mute navigate notify open order pause pay "
    "perform pin plan play post predict prepare press preview print process publish pull push query queue "
    "rank rate read rebuild recommend record recover redirect refresh register reject release reload "
    "remind remove rename render renew reopen repeat replace reply report request reschedule reserve "
    "reset resize resolve restart restore resume retrieve return reverse review revoke revert rotate run "
    "sample save scale scan schedule screenshot search select send set share shorten show simulate solve "
    "sort split stage star start stop store submit subscribe suggest sum summarize suspend switch sync "
    "take test toggle trace track train transcribe transfer transform translate trigger type undo unlock "
    "unpin unstage unsubscribe update upgrade upload upsert use validate verify view visit wait watch "
    "write zip zoom"
)


@cache
def verbs() -> frozenset[str]:
    """Verbs that tools' names and descriptions begin with."""
    return frozenset(_VERBS.split())


def words_of(text: str) -> list[str]:
    """The words of a name or a sentence, in lower case: ``getUserById`` is get, user, by, id."""
    return [part.lower() for part in _PARTS.findall(text)]


_SMALL = frozenset(
    words_of(
        "a an the of for to in on at by with from and or is are be it its this that these those as into your "
        "you all any each not if when which will can use used using tool returns return given provided "
        "specified"
    )
)


def telling_words(text: str) -> frozenset[str]:
    """The words that say what a text is about, of nouns and verbs alike the bare form."""
    return frozenset(_bare(word) for word in words_of(text) if word not in _SMALL and len(word) > 1)


def base_verb(word: str) -> str | None:
    """The verb that ``word`` is a form of: ``searches`` is search; ``None`` for what is no known verb."""
    low = word.lower()
    endings = (low, low.removesuffix("s"), low.removesuffix("es"), f"{low.removesuffix('ies')}y")
    return next((each for each in endings if each in verbs()), None)


def label_of(name: str) -> str:
    """How a person calls the parameter ``name``: ``pull_number`` is pull number."""
    words = words_of(name)
    return {"q": "search query", "id": "ID"}.get(" ".join(words), " ".join(words)) or name


def listed(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def sentence(text: str) -> str:
    """``text`` with a capital first letter."""
    return text[:1].upper() + text[1:]


def _bare(word: str) -> str:
    for ending, instead in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("ss", "ss"),
        ("s", ""),
    ):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending) + instead
    return word

"""Words that operations put into texts: names, values, sentences."""

from __future__ import annotations

import keyword
import re
from random import Random
from typing import Final

__all__ = (
    "ADJECTIVES",
    "NOUNS",
    "SENTENCES",
    "VERBS",
    "camel",
    "pascal",
    "parts_of",
    "sentence",
    "snake",
    "title_words",
    "word",
)

NOUNS: Final = tuple(
    """account action address agent alias amount answer archive area argument array asset author backup badge balance band batch
    bill block board body book booking border bottle boundary box branch bridge bucket budget buffer bundle button cache cell
    chain channel chapter char child choice city claim client clock cluster code color column command comment company
    condition config contact container content context copy corner cost count country coupon course cover cursor customer
    date day deadline default delay delta demand depth detail device digest direction discount distance district document domain
    draft driver duration edge element email employee encoding end endpoint engine entity entry error event example expense
    factor failure feature feed field figure file filter flag folder font footer form format frame friend gap gate goal grade
    graph grid group guest handle handler hash head header height hint history host hour icon id image index info input invoice
    item job key kind label language layer layout leaf ledger length letter level limit line link list loader location lock
    log machine manager map margin marker mask match matrix meal measure member memory menu message meter method metric minute
    mode model module month name neighbor network node note notice number object offer office offset operator option order
    origin output owner package page pair panel parameter parent part partner party password path pattern payload payment
    peer percent period person phase phone photo piece place plan player plugin point policy pool port position post prefix
    price priority product profile program progress project prompt property proxy quantity query question queue quota quote
    range rank rate ratio reader reason receipt recipe record region report request reserve resource response result review
    reward role room root route row rule sample scale schedule schema scope score screen script seat second section seed
    segment sender sequence series server service session setting shape share sheet shelf shift shop side signal size slot
    snapshot socket source space span speed split stage stamp start state station status step stock stop store stream
    street string student style subject suffix sum supplier switch symbol table tag target task tax teacher team template term
    test text theme thread threshold ticket time timeout timer title token tool topic total track trail transfer tree trip
    unit update url usage user value variable vector vendor version view visit visitor voucher wallet warning weight width
    window word worker writer year zone""".split()
)
ADJECTIVES: Final = tuple(
    """active actual allowed base best big blank cached clean closed common complete current custom default dirty done early empty
    enabled expected extra fallback fast final first fixed fresh full global hidden high initial inner internal known large last
    late latest left local long lower main max mean min missing naive new next nice normal old open optional original outer
    parsed pending plain previous primary private public pure quick random raw real recent remote required right running safe
    secondary selected short simple single small sorted stable stale strict target temp total true unique unknown unused upper
    valid visible wanted whole wide""".split()
)
VERBS: Final = tuple(
    """accept add apply archive assign build calculate cancel capture check choose clean clear close collect combine compare
    compute configure confirm connect convert copy count create decode deliver describe detect dispatch display download draw
    emit encode ensure estimate evaluate execute expand export extract fetch fill filter find finish fix flush format gather
    generate get handle hide import init insert inspect install iterate join launch list load locate lock log lookup make map
    mark measure merge move normalize notify obtain open pack parse pick plan prepare print process publish pull push query
    raise read rebuild receive record reduce refresh register release reload remove render replace report request reset resolve
    restore retry return review rotate run save scan schedule search select send set show skip sort split start stop store
    submit sum swap sync take test trace track transform translate trim try unlock update upload validate verify visit wait
    walk watch wrap write""".split()
)
SENTENCES: Final = tuple(
    line.strip()
    for line in """\
    Return the number of open items
    Keep the old behaviour for now
    Load the settings from disk
    Used by the tests only
    The caller must hold the lock
    Convert the value to a string
    Check that the input is valid
    This is slow for large inputs
    Remove this after the next release
    Do not call this directly
    See the documentation for details
    Handle missing values
    Create a new session for each request
    Make sure that the folder exists
    Values are in milliseconds
    Sizes are in bytes
    Write the result to the given file
    Skip entries without a name
    Sort by date, newest first
    Compute the total including tax
    Ignore empty lines
    Raise an error when nothing was found
    Parse the header before the body
    Reset the counters
    Wait until the server is ready
    Send a message to every subscriber
    The order matters here
    Close the connection when done
    Works on Linux and macOS
    Not thread safe
    Build the index once and reuse it
    Cache the result for later calls
    Split the text into words
    Merge the two lists
    Read all records at once
    Validate the form before saving
    Fall back to the default when the key is missing
    Apply the discount to each item
    Print a short summary
    Try again a few times before giving up
    Look up the user by name
    Clean up temporary files
    Update the progress bar
    Limit the number of results
    Keep the list small
    Count the words in a file
    Draw the chart
    Start the worker threads
    Register the default handlers
    Return early if there is nothing to do
    Escape special characters
    Normalise the path
    Log what happened
    Only for internal use
    Needed for older versions
    Get the current time in UTC
    Show the help text
    Round to two decimals
    Find the first match
    Remove duplicates but keep the order""".splitlines()
)

_BOUNDARY: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")


def parts_of(name: str) -> list[str]:
    """Return the words of an identifier in lower case."""
    return [part.lower() for part in _BOUNDARY.findall(name)]


def snake(parts: list[str]) -> str:
    """Write words as `snake_case`."""
    return "_".join(parts)


def camel(parts: list[str]) -> str:
    """Write words as `camelCase`."""
    return parts[0] + "".join(part.capitalize() for part in parts[1:])


def pascal(parts: list[str]) -> str:
    """Write words as `PascalCase`."""
    return "".join(part.capitalize() for part in parts)


def word(rng: Random) -> str:
    """Return a noun."""
    return rng.choice(NOUNS)


def title_words(rng: Random, n_words: int) -> list[str]:
    """Return words of a name: adjectives, then a noun; never a keyword alone."""
    while True:
        words = [*(rng.choice(ADJECTIVES) for _ in range(n_words - 1)), rng.choice(NOUNS)]
        if not keyword.iskeyword("_".join(words)):
            return words


def sentence(rng: Random) -> str:
    """Return a sentence without its full stop, such as a comment or a docstring has."""
    if rng.random() < 0.55:
        return rng.choice(SENTENCES)
    verb, noun, other = rng.choice(VERBS).capitalize(), rng.choice(NOUNS), rng.choice(NOUNS)
    adjective = rng.choice(ADJECTIVES)
    return rng.choice(
        (
            f"{verb} the {adjective} {noun}",
            f"{verb} the {noun} and the {other}",
            f"{verb} each {noun} of the {other}",
            f"The {noun} must not be {adjective}",
            f"{verb} the {noun} before the {other}",
            f"{verb} a {adjective} {noun} for the {other}",
            f"{verb} all {adjective} {noun}s",
        )
    )

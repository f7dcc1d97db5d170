"""What the cursor reads where the reply is expected to differ from the source."""

from __future__ import annotations

import pytest

from plgd.engine.cursor import Cursor
from plgd.engine.odds import Odds
from plgd.engine.overlay import Overlay, Patch, Standing
from plgd.engine.sources import Sources

SOURCE = list(range(100, 130))
FIRST, END = 12, 14
MADE = (1, 2, 3)


def cursor_before(standing: Standing, n_agreed: int = 10) -> Cursor:
    """Return a cursor that has copied tokens up to shortly before a patch."""
    overlay = Overlay()
    cursor = Cursor(Sources((SOURCE,)), overlay, Odds())
    for token in SOURCE[:n_agreed]:
        cursor.push(token)
    overlay.lay(Patch(FIRST, END, MADE, (standing,)))
    return cursor


@pytest.mark.parametrize("standing", [Standing(n_confirmed=1), Standing(n_confirmed=9, n_denied=1)])
def test_a_patch_is_read(standing: Standing) -> None:
    """A substitution is carried into the draft: from its first sighting on, or once it came true often enough."""
    guess = cursor_before(standing).guess(8)
    assert guess is not None
    assert guess.tokens == (*SOURCE[10:FIRST], *MADE, *SOURCE[END : END + 3])
    assert guess.pieces[:2] == ((FIRST - 10, False), (len(MADE), True))


@pytest.mark.parametrize("standing", [Standing(n_confirmed=1, n_denied=1), Standing(n_confirmed=4, n_denied=2)])
def test_the_source_is_read_where_a_patch_is_doubtful(standing: Standing) -> None:
    """What was not made before, and is less likely than not, is not drafted: the source is, with less certainty."""
    guess = cursor_before(standing).guess(8)
    assert guess is not None
    assert guess.tokens == tuple(SOURCE[10:18])
    assert not any(is_patch for _, is_patch in guess.pieces)
    assert 0.3 < guess.chances[2] < guess.chances[1]


def test_a_doubtful_patch_is_still_recognised() -> None:
    """Should the reply make it nevertheless, the cursor follows it and reads the source behind it."""
    cursor = cursor_before(Standing(n_confirmed=1, n_denied=1), n_agreed=FIRST)
    for token in MADE:
        event = cursor.push(token)
    assert event.confirmed is not None
    assert cursor.place == END
    guess = cursor.guess(3)
    assert guess is not None
    assert guess.tokens == tuple(SOURCE[END : END + 3])


def test_a_patch_begun_is_read_to_its_end() -> None:
    """Once its first token came true, the rest of a doubtful patch is what follows."""
    cursor = cursor_before(Standing(n_confirmed=1, n_denied=1), n_agreed=FIRST)
    cursor.push(MADE[0])
    guess = cursor.guess(4)
    assert guess is not None
    assert guess.tokens == (*MADE[1:], *SOURCE[END : END + 2])

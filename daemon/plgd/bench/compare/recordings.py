"""Recorded replies to the reference workloads, written by hand.

A model too small for prose, or one of random weights, is led along them: see `recorded_network`.
"""

from __future__ import annotations

from typing import Final

from plgd.bench.compare.workloads import ARRAY, FUNCTION

__all__ = ("RECORDINGS",)

SUMMARY: Final = """\
The harbour festival will take place on the second weekend of July, from Friday evening to Sunday afternoon. The city \
has approved the use of the old fish market, but not of the northern pier, which is under repair; Maria will ask the \
fire brigade for a safety inspection before the end of April. Twelve of at most twenty food stalls have registered so \
far, and registration stays open until 15 May. Of the 18,000 euros available, 11,500 euros are already planned for \
stage and sound, and the committee decided to rent two additional generators because the old fish market has too few \
power outlets. The sailing club offers free harbour tours on Saturday, weather permitting. Volunteers are still needed \
for the information desk on Sunday morning, so Jonas will write to the schools. The next meeting is on 9 April at \
18:00 in the library.\
"""

EMAIL: Final = """\
Subject: Heating in the kitchen

Dear Mr Brandt,

since Monday the radiator in our kitchen has stayed cold, although the valve is fully open and every other room gets \
warm as usual. I have bled it once, without success, so I suspect that something is stuck inside.

Could you please send somebody to repair it this week? I am at home every day after four o'clock, and on Thursday \
already from noon. If a visit in the morning suits the plumber better, my neighbour on the second floor has a key and \
would let him in.

Thank you for taking care of it so soon.

Kind regards,
Helen Fischer\
"""

STORY: Final = """\
The lighthouse of Skarholm stood at the far end of a causeway that the sea covered twice a day, and whoever lived \
there learned to plan by the tide. Runa had lived there all her seventeen years. Her father kept the lamp, her \
grandmother kept the hens, and Runa kept whatever was broken: the pump, the generator, the clock in the hall that \
lost four minutes each night as though it were tired of the wind.

The radio came to her in a crate of wet straw. A fisherman had pulled it out of a wreck off the northern reef and \
traded it for a dozen eggs. It was a heavy thing with a walnut case, brass corners and a dial of yellowed glass on \
which someone had scratched a small star between two stations. Two of its valves were dead and a family of crabs had \
moved into the speaker. Runa spent the whole of November on it. She wound a new coil from the wire of a doorbell, \
begged a valve from the schoolmaster, and cut a cone out of an old sea chart, so that the voice, if ever there was \
one, would have to pass over three shallow bays and a warning about currents.

On the first night of December she turned the knob and heard the weather report, then dance music, then a priest. She \
went on turning until the needle reached the star. The hiss thinned out, and a woman said, quite clearly, "Is the \
causeway dry?"

Runa looked at the tide table. "It will be in an hour," she answered, feeling foolish, because a receiver is not a \
telephone.

"Good," said the woman. "Then leave the blue door open tonight."

She fetched her father. He bent down, pressed his ear to the chart and frowned. To him there was only static. So it \
went with her grandmother, with the schoolmaster, and with the two clerks of the harbour office who came over with \
instruments and went home with colds. Nobody on Skarholm heard anything but rain. They were kind about it, which was \
worse than if they had laughed.

Still the voice returned each evening, and each evening it asked for something small. Put a lantern in the west \
window. Move the boat above the third ring. Tell the baker to stay in bed on Thursday. Runa did as she was told, since \
nothing of it could hurt anyone. On Thursday the bakery's chimney fell through the roof, straight across the trough \
where the baker always stood at five. A storm nobody had forecast tore six boats from their moorings, and theirs was \
not among them. When a coaster lost its engine in the fog, the helmsman steered by a light in a window that ought to \
have been dark.

"Who are you?" Runa asked at last. It was February by then, and ice was ringing against the stones.

There was a long pause, filled with a sound like somebody winding a clock. "I keep the lamp at Skarholm," the woman \
said. "I have kept it for fifty-one years. Before the causeway is lost I wanted to put a few things right, and yours \
was the only set that would answer." She laughed, and it was a laugh that Runa knew, though she had never heard it \
from outside. "Be careful with the walnut case, dear. You will need to scratch a star on the glass."

Runa sat quite still until the tide turned. Then she took the smallest of her screwdrivers, wiped the dial with her \
sleeve, and looked for the mark that had shown her the way. Between the two stations the glass was perfectly smooth.\
"""

# The edits' recordings end with the fence that the prompt has opened.
RECORDINGS: Final[dict[str, str]] = {
    "edit_fn": FUNCTION.replace("amount", "line_total") + "```",
    "edit_json": ARRAY.replace("]\n  }", '],\n    "in_stock": true\n  }') + "```",
    "summary": SUMMARY,
    "write": EMAIL,
    "story": STORY,
}

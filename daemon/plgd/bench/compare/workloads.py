"""The five reference workloads: two edits, a summary, a short text and a long one.

Their kinds are those of mlxcel's prompt-lookup report: a rename in a 20-line function, a new field in each of five JSON
objects, a summary that reuses the words of its notes, an e-mail without a source, 800 tokens of free prose. The texts
are our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ("ARRAY", "FUNCTION", "WORKLOADS", "ChatWorkload", "EditWorkload", "Workload")


@dataclass(frozen=True, slots=True)
class EditWorkload:
    """A whole file and an instruction, in the prompt of a real edit.

    Attributes:
        name: what tables and options call it.
        max_tokens: the longest reply, in tokens.
        file: the file's name.
        text: its content.
        instruction: what to change.
    """

    name: str
    max_tokens: int
    file: str
    text: str
    instruction: str


@dataclass(frozen=True, slots=True)
class ChatWorkload:
    """A user's message in the model's chat template.

    Attributes:
        name: what tables and options call it.
        max_tokens: the longest reply, in tokens.
        user: the message.
    """

    name: str
    max_tokens: int
    user: str


Workload = EditWorkload | ChatWorkload

FUNCTION: Final = '''\
def summarize_orders(orders, tax_rate):
    """Add up the orders of one customer."""
    total = 0.0
    count = 0
    largest = None
    for order in orders:
        if order.cancelled:
            continue
        amount = order.price * order.quantity
        if order.discount:
            amount -= amount * order.discount
        total += amount
        count += 1
        if largest is None or amount > largest:
            largest = amount
    tax = total * tax_rate
    if count == 0:
        return {"total": 0.0, "tax": 0.0, "average": 0.0, "largest": None}
    average = total / count
    return {"total": total + tax, "tax": tax, "average": average, "largest": largest}
'''

ARRAY: Final = """\
[
  {
    "id": 101,
    "name": "Desk lamp",
    "price": 34.5,
    "tags": ["office", "light"]
  },
  {
    "id": 102,
    "name": "Bookshelf",
    "price": 129.0,
    "tags": ["office", "storage"]
  },
  {
    "id": 103,
    "name": "Garden chair",
    "price": 48.9,
    "tags": ["outdoor", "seating"]
  },
  {
    "id": 104,
    "name": "Wall clock",
    "price": 22.0,
    "tags": ["office", "time"]
  },
  {
    "id": 105,
    "name": "Rain barrel",
    "price": 75.25,
    "tags": ["outdoor", "storage"]
  }
]
"""

NOTES: Final = """\
Summarize these meeting notes in one paragraph. Reuse the wording of the notes.

Meeting of the harbour festival committee, 12 March.
- The festival will take place on the second weekend of July, from Friday evening to Sunday afternoon.
- The city has approved the use of the old fish market, but not of the northern pier, which is under repair.
- Maria will ask the fire brigade for a safety inspection of the old fish market before the end of April.
- Twelve food stalls have registered so far; the limit is twenty. Registration stays open until 15 May.
- The sailing club offers free harbour tours on Saturday, weather permitting.
- Tom presented the budget: 18,000 euros are available, 11,500 euros are already planned for stage and sound.
- The committee decided to rent two additional generators because the old fish market has too few power outlets.
- Volunteers are still needed for the information desk on Sunday morning. Jonas will write to the schools.
- The next meeting is on 9 April at 18:00 in the library.
"""

EMAIL: Final = """\
Write a short e-mail to my landlord. The heating in the kitchen has not worked since Monday, and I would like a repair \
this week. I am at home every day after four o'clock.\
"""

STORY: Final = """\
Tell me a long story about a lighthouse keeper's daughter who repairs an old radio and hears a voice that nobody else \
on the island can hear. Take your time, describe the places and the people, and let the story have a surprising end.\
"""

WORKLOADS: Final[dict[str, Workload]] = {
    workload.name: workload
    for workload in (
        EditWorkload("edit_fn", 512, "orders.py", FUNCTION, "Rename the variable amount to line_total."),
        EditWorkload("edit_json", 640, "products.json", ARRAY, 'Add the field "in_stock": true to each object.'),
        ChatWorkload("summary", 320, NOTES),
        ChatWorkload("write", 320, EMAIL),
        ChatWorkload("story", 800, STORY),
    )
}

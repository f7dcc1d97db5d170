"""Totals of an invoice."""

from decimal import Decimal

VAT = Decimal("0.19")


def total_due(lines, discount=Decimal(0)):
    """Return what the customer pays: lines are (quantity, unit price) pairs."""
    subtotal = Decimal(0)
    for quantity, unit_price in lines:
        subtotal += quantity * unit_price
    if discount:
        subtotal -= subtotal * discount
    vat = (subtotal * VAT).quantize(Decimal("0.01"))
    return subtotal + vat


def summary(lines):
    """Return the text under the invoice."""
    due = total_due(lines)
    return f"{len(lines)} items, {due} EUR to pay"

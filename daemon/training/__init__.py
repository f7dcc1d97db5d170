"""The recipe of the built-in model's adapter: texts, edits made of them, training, evaluation. Not in the product."""

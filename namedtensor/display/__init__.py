"""How tensors look: in one line, as a table in a terminal, as a table in a notebook."""

from ..tensors.tables import html_table, one_line, summary, text_table

__all__ = ["html_table", "one_line", "summary", "text_table"]

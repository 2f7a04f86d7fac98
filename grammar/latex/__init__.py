"""latex"""

from .lexer import tokenize

__all__ = ["tokenize"]

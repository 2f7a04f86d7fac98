"""The address at which the playground is published, for links that others can open."""

from __future__ import annotations

SITE: str | None = None  # "https://…/playground.html"; `namedtensor playground --site` states another

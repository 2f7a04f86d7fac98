"""The address at which the playground is published, for links that others can open."""

from __future__ import annotations

# "https://…/playground.html", which `python .ci/address.py URL` sets before a release is built; `namedtensor playground
# --site` states another.
SITE: str | None = None

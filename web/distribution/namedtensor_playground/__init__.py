"""The playground as one file, `playground.html`; `namedtensor playground --save` copies it."""

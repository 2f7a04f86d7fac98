"""The file suffixes of each type of document."""

TEX = (".tex",)
MARKDOWN = (".md", ".markdown", ".qmd", ".Rmd", ".rmd", ".mdx")
RESTRUCTURED_TEXT = (".rst",)
NOTEBOOK = (".ipynb",)
HTML = (".html", ".htm")
PYTHON = (".py",)
DOCUMENTS = (*TEX, *MARKDOWN, *RESTRUCTURED_TEXT, *NOTEBOOK, *HTML)
EXPECTED = ".tex, .md, .rst, .ipynb, .html or .py"  # as messages list them

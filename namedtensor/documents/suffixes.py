"""File suffixes of documents, by document type."""

TEX = (".tex",)
MARKDOWN = (".md", ".markdown", ".qmd", ".Rmd", ".rmd", ".mdx")
RESTRUCTURED_TEXT = (".rst",)
NOTEBOOK = (".ipynb",)
HTML = (".html", ".htm")
PYTHON = (".py",)
DOCUMENTS = (*TEX, *MARKDOWN, *RESTRUCTURED_TEXT, *NOTEBOOK, *HTML)
EXPECTED = ".tex, .md, .rst, .ipynb, .html or .py"  # as messages list them

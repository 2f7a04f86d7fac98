r"""Define the notation's macros for a LaTeX document, unless a package already defines them."""

PREAMBLE = r"""\usepackage{amsmath,amssymb,xcolor}
\setcounter{MaxMatrixCols}{100}
\allowdisplaybreaks
\providecommand{\name}[1]{\ensuremath{\mathsf{#1}}}
\providecommand{\ndef}[2]{\newcommand{#1}{\name{#2}}}
\providecommand{\reals}{\mathbb{R}}
\providecommand{\nbin}[2]{\mathbin{\mathop{#2}\limits_{\substack{#1}}}}
\providecommand{\ndot}[1]{\nbin{#1}{\odot}}
\providecommand{\ncat}[1]{\nbin{#1}{\oplus}}
\providecommand{\nsum}[1]{\sum\limits_{\substack{#1}}}
\providecommand{\nprod}[1]{\prod\limits_{\substack{#1}}}
\providecommand{\nfun}[2]{\mathop{\mathrm{#2}}\limits_{\substack{#1}}}
\providecommand{\nmatrix}[3]{\mathinner{#1\overset{#2}{\begin{bmatrix}#3\end{bmatrix}}}}
"""

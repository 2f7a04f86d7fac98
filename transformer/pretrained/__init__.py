"""Models whose parameters come from files, and what they do.

`model`: `Model`, and the table of how a file names its parameters.
`hugging_face`: a Hugging Face checkpoint to a model.
`generation`: `LanguageModel`, and its text token by token.
`cached`: the same as a module of PyTorch with a key-value cache.

Contract: it knows the kinds of models by their tables alone.
"""

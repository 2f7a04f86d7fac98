"""Models whose parameters come from files, with their methods.

`weights`: the table of how a file names the parameters of a model.
`heads`: the layers of one task on top of a model.
`model`: `Model`.
`hugging_face`: a Hugging Face checkpoint to a model.
`gguf_files`: a file of llama.cpp to the arrays and the configuration of a checkpoint.
`tokens`: the tokenizer of a checkpoint.
`arrays`: tensors on a given tensor's library and device.
`sampling`: the choice of the next token.
`stopping`: the end of a sequence.
`generation`: `LanguageModel`, and its text token by token.
`recurrent`: `RecurrentModel`, whose memory is a state of one size.
`cached`: the same as a module of PyTorch with a key-value cache.

Contract: it knows the kinds of models by their tables alone.
"""

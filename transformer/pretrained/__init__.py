"""Models whose parameters are loaded from files, and the generation of text.

`weights`: the table of the names that a file uses for the parameters of a model.
`heads`: the layers that a checkpoint adds to a model for one task.
`model`: the class `Model`.
`hugging_face`: loading of models from Hugging Face checkpoints.
`gguf_files`: the arrays and the configuration of a llama.cpp file.
`tokens`: the tokenizer of a checkpoint.
`arrays`: creation of tensors with the library and device of another tensor.
`sampling`: the choice of the next token.
`stopping`: detection of the end of a sequence.
`generation`: the class `LanguageModel`, which generates text token by token.
`recurrent`: the class `RecurrentModel`, whose memory is a state of constant size.
`cached`: language models as PyTorch modules with a key-value cache.

Contract: this package depends on a particular model only through the model's table.
"""

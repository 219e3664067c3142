"""What llama.cpp lets follow in a grammar, for programs that compare with it.

Needs: pip install llama-cpp-python==0.3.36
"""

import ctypes
import json
import os
import signal

import llama_cpp as lc


class Vocab:
    def __init__(self, path):
        lc.llama_backend_init()
        self.log = []
        self.callback = lc.llama_log_callback(lambda level, text, data: self.log.append(text))
        lc.llama_log_set(self.callback, None)
        params = lc.llama_model_default_params()
        params.vocab_only = True
        self.model = lc.llama_model_load_from_file(str(path).encode(), params)
        self.vocab = lc.llama_model_get_vocab(self.model)
        self.n = lc.llama_vocab_n_tokens(self.vocab)
        self.pieces = [self.piece(i) for i in range(self.n)]
        self.ends = [i for i in range(self.n) if lc.llama_vocab_is_eog(self.vocab, i)]
        self.control = {i for i in range(self.n) if lc.llama_vocab_is_control(self.vocab, i)}
        self.token_of_byte = {p[0]: i for i, p in enumerate(self.pieces) if len(p) == 1 and i not in self.ends}

    def piece(self, token):
        text = ctypes.create_string_buffer(1024)
        n = lc.llama_token_to_piece(self.vocab, token, text, 1024, 0, False)
        return text.raw[: max(n, 0)]


class Grammar:
    """One answer that is held to a grammar; ok is False where the grammar is refused."""

    def __init__(self, vocab, text):
        self.vocab = vocab
        vocab.log.clear()
        self.sampler = lc.llama_sampler_init_grammar(vocab.vocab, text.encode(), b"root")
        self.ok = bool(self.sampler)

    def allowed(self, ids=None):
        ids = range(self.vocab.n) if ids is None else ids
        data = (lc.llama_token_data * len(ids))()
        for k, i in enumerate(ids):
            data[k].id = i
            data[k].logit = 1.0
        array = lc.llama_token_data_array(data, len(ids), -1, False)
        lc.llama_sampler_apply(self.sampler, ctypes.byref(array))
        return [data[k].id for k in range(len(ids)) if data[k].logit > 0]

    def accept(self, token):
        lc.llama_sampler_accept(self.sampler, token)

    def close(self):
        if self.ok:
            lc.llama_sampler_free(self.sampler)


def is_answer(vocab, grammar, text):
    """Whether the text, byte by byte, is a whole answer."""
    state = Grammar(vocab, grammar)
    ok = True
    for byte in text.encode():
        token = vocab.token_of_byte[byte]
        ok = ok and bool(state.allowed([token]))
        if ok:
            state.accept(token)
    ok = ok and bool(state.allowed(vocab.ends[:1]))
    state.close()
    return ok


def comparable(vocab, grammar, before, ids):
    """Those of the ids that both sides read alike.

    llama.cpp takes the text of control and unknown tokens for text, lets through bytes that never become UTF-8,
    keeps out tokens that begin with a zero byte, and is careful with half a character before a negated class.
    """
    tail = b"".join(vocab.pieces[i] for i in before)
    kept = []
    for i in ids:
        piece = vocab.pieces[i]
        if i in vocab.ends:
            kept.append(i)
            continue
        if i in vocab.control or not piece or piece[0] == 0:
            continue
        try:
            (tail + piece).decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" or "[^" in grammar:
                continue
        kept.append(i)
    return kept


def guarded(function, *arguments, seconds=3):
    """The function's result, from a process of its own: some grammars never end there. None: it took too long."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        os.close(read)
        with os.fdopen(write, "w") as out:
            json.dump(function(*arguments), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None

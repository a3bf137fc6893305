# SPDX-License-Identifier: Apache-2.0
"""Programs with ``contrib.text``, run with MXNet to record its answers and with us to compare."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

WORDS = "b a c a B <pad> a c"

#: Expressions over ``text`` and ``counter``, the words above counted.
VALUES = (
    "text.utils.count_tokens_from_str(' Life is great ! \\n life is good . \\n', ' ', '\\n', True)",
    "text.utils.count_tokens_from_str('*Life*is*|*good*', '\\\\*', '\\\\|')",
    "text.utils.count_tokens_from_str('aXbxcX', 'X', to_lower=True)",
    "text.utils.count_tokens_from_str('a b', counter_to_update=counter)",
    "text.utils.count_tokens_from_str('')",
    "text.vocab.Vocabulary().idx_to_token",
    "text.vocab.Vocabulary(counter).idx_to_token",
    "text.vocab.Vocabulary(counter).token_to_idx",
    "text.vocab.Vocabulary(counter, most_freq_count=2).idx_to_token",
    "text.vocab.Vocabulary(counter, most_freq_count=0, reserved_tokens=['q']).idx_to_token",
    "text.vocab.Vocabulary(counter, most_freq_count=-1).idx_to_token",
    "text.vocab.Vocabulary(counter, 2, 2, 'UNK', ['<pad>', 'a']).idx_to_token",
    "text.vocab.Vocabulary(counter, 3, reserved_tokens=['<pad>', 'q']).idx_to_token",
    "text.vocab.Vocabulary(counter, unknown_token='a').idx_to_token",
    "text.vocab.Vocabulary(Counter([(1, 2), (0, 5), (1, 2)]), unknown_token=()).token_to_idx[1, 2]",
    "text.vocab.Vocabulary(counter, unknown_token=None).unknown_token",
    "text.vocab.Vocabulary(reserved_tokens=['x']).reserved_tokens",
    "text.vocab.Vocabulary(counter).reserved_tokens",
    "len(text.vocab.Vocabulary(counter))",
    "text.vocab.Vocabulary(counter).to_indices('b')",
    "text.vocab.Vocabulary(counter).to_indices(['b', 'q', '<unk>'])",
    "text.vocab.Vocabulary(counter).to_indices(('b', 'a'))",
    "text.vocab.Vocabulary(counter).to_tokens(1)",
    "text.vocab.Vocabulary(counter).to_tokens([2, 0, -1])",
    "text.vocab.Vocabulary(counter).to_tokens([])",
    "text.vocab.Vocabulary(counter).to_tokens(6)",
    "text.vocab.Vocabulary(counter).to_tokens([0, 1.0])",
    "text.vocab.Vocabulary(min_freq=0)",
    "text.vocab.Vocabulary(reserved_tokens=['<unk>'])",
    "text.vocab.Vocabulary(reserved_tokens=['a', 'a'])",
    "text.vocab.Vocabulary({'a': 1})",
    "text.vocab.Vocabulary(Counter(['a', 1]))",
    "text.embedding.get_pretrained_file_names('glove')",
    "text.embedding.get_pretrained_file_names()",
    "text.embedding.get_pretrained_file_names('GloVe')",
    "text.embedding.create('nothing')",
    "text.embedding.create('GloVe', pretrained_file_name='nothing')",
    "text.embedding.FastText('wiki.nothing.vec')",
    "text.embedding.CustomEmbedding('there/is/none')",
    "text.embedding.GloVe._get_pretrained_file_url('glove.twitter.27B.25d.txt')",
    "text.embedding.FastText._get_pretrained_file_url('wiki.simple.vec')",
    "text.embedding.CompositeEmbedding(1, [])",
    "text.embedding.CompositeEmbedding(text.vocab.Vocabulary(), [1])",
)

#: Contents of files, arguments for reading them, and expressions over the embedding ``e``.
FILES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "a 1 2\nb -3.25 4e-1\n",
        "",
        (
            "e.get_vecs_by_tokens('a')",
            "e.get_vecs_by_tokens(['A', 'b', 'q'])",
            "e.get_vecs_by_tokens(['A', 'b', 'Q'], lower_case_backup=True)",
            "e.get_vecs_by_tokens(('a', 'b'))",
            "e.update_token_vectors('a', array([9, 8]))",
            "e.update_token_vectors(['b'], array([7, 6]))",
            "e.update_token_vectors(['a', '<unk>'], array([[1, 2], [3, 4]]))",
            "e.update_token_vectors('q', array([9, 8]))",
            "e.update_token_vectors(['a', 'b'], array([9, 8]))",
            "e.update_token_vectors('a', array([[9, 8, 7]]))",
            "e.update_token_vectors('a', [9, 8])",
            "e.idx_to_vec",
            "e.to_indices(['b', 'q'])",
            "e.to_tokens([2, 0])",
            "len(e)",
            "composed(Vocabulary(counter), [e, e]).idx_to_vec",
            "composed(Vocabulary(counter), e).get_vecs_by_tokens('b')",
            "composed(Vocabulary(counter, reserved_tokens=['q']), [e]).vec_len",
            "composed(Vocabulary(counter, unknown_token='a'), [e]).idx_to_vec",
        ),
    ),
    ("a 1 2\n<unk> 5 6\n<unk> 7 8\na 3 3\nb 1 1\n", "", ()),
    ("a 1 2\nb 3 4\na 5 6\nc 7 8\n", "", ()),
    ("2 2\na 1 2\nb 3 4\n", "", ()),
    ("a 1 2\nb 3\nc 5 6\n", "", ()),
    ("a 1 2\nb 3 4 5\n", "", ()),
    ("a 1 2\na 3 4 5\n", "", ()),
    ("a 1 2\n\nb 3 4\n", "", ()),
    ("a 1 2\nb\n", "", ()),
    ("a 1 2\nb 3 x\n", "", ()),
    ("a 1  2\n", "", ()),
    ("a 1 2 \t\nb 3 4  \n\u00e9\u4e2d 5 6", "", ("e.get_vecs_by_tokens('\u00e9\u4e2d')",)),
    (" 1 2\na 1 2\n", "", ()),
    ("a 0.1 1_0\nb nan -inf\n", "", ()),
    ("", "", ()),
    ("a 1\nb 2\n", "", ()),
    ("<unk> 1 2\n", "", ()),
    ("<unk> 1\na 1 2\n", "", ()),
    ("<unk> 1 2 3\na 1 2\n", "", ()),
    ("a 1 2\n", "unknown_token='UNK', init_unknown_vec=mx.nd.ones", ()),
    ("a\t1\t2\nb\t3\t4", "elem_delim='\\t'", ()),
    ("a::1::2\nb::3::4\n", "elem_delim='::'", ()),
    ("a, 1, 2\nb, 3, 4\n", "elem_delim=','", ()),
    ("a 1 2\nb 3 4\n", "elem_delim=','", ()),
    ("a 1 2\nb 3 4\n", "vocabulary=Vocabulary(counter)", ("e.reserved_tokens",)),
    ("a 1 2\nb 3 4\n", "vocabulary=Vocabulary(counter, 1, reserved_tokens=['q'])", ()),
    ("a 1 2\nb 3 4\n", "vocabulary=Vocabulary(counter), init_unknown_vec=mx.nd.ones", ()),
    ("a 1 2\nb 3 4\n", "vocabulary='b'", ()),
    ("a 1 2\nb 3 4\n", "unknown='b'", ()),
)


def _encoded(value: Any) -> Any:
    if hasattr(value, "asnumpy"):
        return {
            "array": [repr(one) for one in value.asnumpy().ravel().tolist()],
            "shape": [*value.shape],
        }
    if isinstance(value, dict):
        return {"pairs": [[key, one] for key, one in value.items()]}
    return value


def _answer(code: str, names: dict[str, Any]) -> Any:
    try:
        return _encoded(eval(code, names))
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> dict[str, Any]:
    """Return the class of Python's that an error is, and the error, which is not recorded."""
    classes = (one for one in type(error).__mro__ if one.__module__ == "builtins")
    return {"error": next(classes).__name__, "raised": error.with_traceback(None)}


def answers_of_values(mx: Any) -> dict[str, Any]:
    """Return what each of the first programs gives."""
    return {
        code: _answer(
            code, {"text": mx.contrib.text, "Counter": Counter, "counter": Counter(WORDS.split())}
        )
        for code in VALUES
    }


def answers_of_files(mx: Any, folder: Path, numpy: bool) -> list[Any]:
    """Return what the embeddings of the files are, and which warnings there were at which lines."""
    text, answers = mx.contrib.text, list[Any]()
    for number, (content, arguments, programs) in enumerate(FILES):
        path = folder / f"{number}.txt"
        path.write_text(content, encoding="utf-8")
        names = {
            "mx": mx,
            "read": text.embedding.CustomEmbedding,
            "composed": text.embedding.CompositeEmbedding,
            "Vocabulary": text.vocab.Vocabulary,
            "array": mx.np.array if numpy else mx.nd.array,
            "counter": Counter(WORDS.split()),
        }
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                names["e"] = eval(f"read({str(path)!r}, {arguments})", names)
            except Exception as error:
                answer: Any = _failure(error)
            else:
                e: Any = names["e"]
                answer = {
                    "tokens": e.idx_to_token,
                    "indices": e.token_to_idx,
                    "length": e.vec_len,
                    "vectors": _encoded(e.idx_to_vec),
                    "type": str(e.idx_to_vec.dtype),
                    "programs": [_answer(code, names) for code in programs],
                }
        texts = [str(one.message).lower() for one in warned if one.category is UserWarning]
        answers.append({**answer, "warned": [one.split("line ")[1].split()[0] for one in texts]})
    return answers

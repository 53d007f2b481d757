"""Asks llama.cpp, and the Python package tokenizers, how each pre-tokenizer cuts texts.

  python pretokenizers.py LLAMA_CPP RANDOM >pretokenizers.json

LLAMA_CPP is a folder with the source of llama.cpp and with its build in build/bin. RANDOM is a number
of random texts to add to the fixed ones; 0 makes the file that the tests read. Needs the Python
packages numpy and tokenizers.

Some expressions of the training tell capitals from small letters beyond ASCII, or combine classes of
characters; those of llama.cpp only come near to them. For these families the file has what the
package tokenizers makes of the expressions of the training. The standard error says how many of the
texts llama.cpp cuts otherwise."""
import ctypes, json, os, random, re, sys, tempfile

source, extra = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, os.path.join(source, "llama.cpp", "gguf-py"))
import gguf
import tokenizers
from tokenizers import pre_tokenizers as pre

here = os.path.dirname(os.path.abspath(__file__))
old = json.load(open(os.path.join(here, "pretokenizers.json")))


def byte_text(value):
    if value <= 0x20:
        return chr(0x100 + value)
    if 0x7F <= value <= 0xA0:
        return chr(0x121 + value - 0x7F)
    return chr(0x143) if value == 0xAD else chr(value)


names = []
text = open(os.path.join(source, "llama.cpp", "src", "llama-vocab.cpp"), encoding="utf8").read()
for name in re.findall(r'tokenizer_pre == "([^"]+)"', text):
    # The last three are of models that are no decoders.
    if name not in names + ["default", "granite-embed-multi-311m", "mmbert", "whitespace"]:
        names.append(name)

texts = list(dict.fromkeys(old["texts"] + [
    "getHTTPResponseCode ÄÖÜßen éÉcole ЖурналЖУРНАЛ ǅungla", "don't DON'T l'été we'LL've x'ſ", "1234567 12345a 1_234 ٣٤٥٦ 12345678",
    "a/b//c\n/ d?!\n\n\r\n end", "漢字かなカナ混じり文。한국어ㄱㅏ 中文，标点！", "ภาษาไทย हिन्दी ট্যাগ e\u0301 \u0301x", "  \t\n  \n x   y\t\tz \u3000 w  ",
    "price: $1,234.56 (€7) +1 <=> ^~|`", "…。،、।۔ a,b.c!d?e|f(g)h s", "<sentinel:12> IMGIMGABCZ IMGIMGJZ    x  y", " \r\n a \r b\n", "½Ⅻ² 𝟘𝟙 x²", "x\n\n\ny\nz\n",
    "ა Ა ᲀ ա Ա ꞑ Ꜳ ⴀ 𞤀 𐕰", "«guillemets» “quotes” ‘single’ — dash", "\u200b\ufeff\u200d😀👨‍👩‍👧 \x00\x1c\x7f", "A1B2c3 αΒγ 123abc456", " " * 37 + "x" + " " * 600,
    "a\n\nb\n \n\nc {\n}\n", "it'stark we'very I'llama", "12 345 6789 x1234y \u0967\u0968\u0969\u096a", "a b  cde f1 한 국 어/",
    "foo_bar-baz@qux.com #tag", "'s 'S 'll", "l 漢a字b 漢's",
]))
alphabet = ("' s S t re RE ve M ll d ſ K   \n \r \t \v \f \u0085 \u00a0 \u2003 \u2028 \u3000 \u200b \u180e a Z é É ß я Я 日 か 한 ㄱ क ि ้ ก \u0301 "
            "1 9 ٣ ½ Ⅻ ² . , - _ / € $ + | 。 ， ！ 😀 \u200d \U0001D54F \x1c \u0600 \ufeff ა ǅ ʰ").split(" ")
rng = random.Random(1)
for _ in range(extra):
    words = []
    for _ in range(rng.randint(1, 16)):
        part = rng.choice(alphabet)
        if part == "" or rng.random() < 0.15:
            part = " "
        words.append(part * (1 + rng.randrange(2) * rng.randrange(4)))
    texts.append("".join(words))

# The vocabulary: all bytes but the missing ones, then every pair of two bytes that occur in the texts. So two neighbouring
# bytes are joined only inside a word, and where words end shows in the ids.
single = [v for v in range(256) if v not in old["missing"]]
used = sorted({v for t in texts for v in t.encode()} - set(old["missing"]))
pairs = [(byte_text(a), byte_text(b)) for a in used for b in used]
tokens = [byte_text(v) for v in single] + [a + b for a, b in pairs] + ["<|begin|>", "<|end|>"]


# The same for vocabularies that are not byte-level: characters from U+0009 to U+024F that occur in the texts, pairs of them, and a token
# for each byte, for all other characters.
characters = sorted({c for t in texts for c in t.replace(" ", "▁") if "\t" <= c < "\u0250" or c == "▁"})
raw_pairs = [(a, b) for a in characters for b in characters]
raw_tokens = characters + [a + b for a, b in raw_pairs] + [f"<0x{v:02X}>" for v in range(256)] + ["<|begin|>", "<|end|>"]
raw_names = ["gemma4", "sarvam-moe"]


def lengths(name, ids):
    """The length of each token, 1 or 2, or b for a byte token: with the text, that says which token it is."""
    singles, last = (len(characters), len(raw_tokens) - 258) if name in raw_names else (len(single), len(tokens))
    return "".join("1" if i < singles else "2" if i < last else "b" for i in ids)


lib = ctypes.CDLL(os.path.join(source, "build", "bin", "libllama.so"))
lib.llama_model_load_from_file.restype = ctypes.c_void_p
lib.llama_model_get_vocab.restype = ctypes.c_void_p
lib.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
lib.llama_vocab_get_add_bos.argtypes = [ctypes.c_void_p]
lib.llama_vocab_get_add_bos.restype = ctypes.c_bool
lib.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_bool, ctypes.c_bool]
lib.llama_backend_init()


class Params(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 256)]


def parameters():
    """llama_model_params with vocab_only set. Where it stands in the structure is read from llama.h."""
    lib.llama_model_default_params.restype = Params
    head = open(os.path.join(source, "llama.cpp", "include", "llama.h")).read()
    body = re.search(r"struct llama_model_params \{(.*?)\n    \};", head, re.S).group(1)
    fields = [line.strip() for line in body.split("\n")]
    size, flags = 0, []
    for line in fields:
        line = line.split("//")[0].strip()
        if not line.endswith(";"):
            continue
        width = 1 if line.startswith("bool ") else 4 if line.startswith(("int32_t", "enum")) else 8
        if line.startswith("bool "):
            flags.append((line[5:-1].strip(), size))
        else:
            size = (size + width - 1) // width * width
        size += width
    p = lib.llama_model_default_params()
    raw = bytearray(bytes(p))
    raw[dict(flags)["vocab_only"]] = 1
    return Params.from_buffer_copy(raw)


LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
silent = LOG(lambda *_: None)
lib.llama_log_set(silent, None)


def by_llama_cpp(name):
    path = os.path.join(tempfile.gettempdir(), "pretokenizer.gguf")
    w = gguf.GGUFWriter(path, "llama")
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre(name)
    raw = name in raw_names
    listed = raw_tokens if raw else tokens
    w.add_token_list(listed)
    w.add_token_types([1] * (len(listed) - 258) + [6 if raw else 1] * 256 + [3, 3])
    w.add_token_merges([" ".join(p) for p in (raw_pairs if raw else pairs)])
    w.add_bos_token_id(len(listed) - 2)
    w.add_eos_token_id(len(listed) - 1)
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
    lib.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Params]
    model = lib.llama_model_load_from_file(path.encode(), parameters())
    os.remove(path)
    if not model:
        return None
    vocab = lib.llama_model_get_vocab(model)
    out = []
    for t in texts:
        raw = t.encode()
        ids = (ctypes.c_int32 * (len(raw) + 8))()
        n = lib.llama_tokenize(vocab, raw, len(raw), ids, len(ids), False, False)
        assert n >= 0, (name, t, n)
        out.append(lengths(name, ids[:n]))
    return bool(lib.llama_vocab_get_add_bos(vocab)), out


lower, upper = r"\p{Ll}\p{Lm}\p{Lo}\p{M}", r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
suffix, tail = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
camel, caps = rf"[^\r\n\p{{L}}\p{{N}}]?[{upper}]*[{lower}]+", rf"[^\r\n\p{{L}}\p{{N}}]?[{upper}]+[{lower}]*"
gpt4o = rf"{camel}{suffix}|{caps}{suffix}|\p{{N}}{{1,3}}|{tail}"
no_han = lambda s: rf"[{s}&&[^\p{{Han}}]]"
kimi = (rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{no_han(upper)}*{no_han(lower)}+{suffix}|[^\r\n\p{{L}}\p{{N}}]?{no_han(upper)}+{no_han(lower)}*{suffix}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
trained = {name: [gpt4o] for name in ["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2", "granite-embed-multi-97m"]}
trained |= {name: [r"\d{1,3}(?=(?:\d{3})*\b)", gpt4o] for name in ["tiny_aya", "cohere2moe"]}
deepseek = [r"[\r\n]", None, None, r"\s+$", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}+"]
in_source = re.findall(r'LLAMA_VOCAB_PRE_TYPE_DEEPSEEK_LLM:\n.*?"\\\\s\?(\[A-Za-z.*?)",\n.*?"\\\\s\?(\[!-/.*?)",', text, re.S)[0]
deepseek[1:3] = [r"\s?" + e for e in in_source]
trained |= {"deepseek-llm": deepseek, "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", deepseek[4], r"\p{N}"]}
trained |= {"superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"], "youtu": [
    "[\uac00-\ud7a3\u3131-\u318e]+|[！…“”‘’—：；，\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    rf"{camel}{suffix}|{caps}{suffix}|\p{{N}}|{tail}"]}
trained |= {"tekken": [rf"{camel}|{caps}|\p{{N}}|{tail}"], "kimi-k2": [kimi]}


def by_tokenizers(expressions, ignore_merges):
    vocab = {t: i for i, t in enumerate(tokens)}
    model = tokenizers.models.BPE(vocab=vocab, merges=pairs, ignore_merges=ignore_merges)
    t = tokenizers.Tokenizer(model)
    t.pre_tokenizer = pre.Sequence([pre.Split(tokenizers.Regex(e), "isolated") for e in expressions] + [pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    return [lengths("", t.encode(x, add_special_tokens=False).ids) for x in texts]


families = {}
for name in names:
    asked = by_llama_cpp(name)
    if asked is None:
        print(f"{name}: refused by llama.cpp", file=sys.stderr)
        continue
    bos, cut = asked
    if name in trained:
        whole = name in ("tekken", "granite-embed-multi-97m", "youtu")
        ours = by_tokenizers(trained[name], whole)
        print(f"{name}: llama.cpp differs in {sum(a != b for a, b in zip(cut, ours))} of {len(texts)} texts", file=sys.stderr)
        # tokenizers joins what stands on both sides of a byte without a token; llama.cpp and this program do not.
        cut = [a if set(t.encode()) & set(old["missing"]) else b for t, a, b in zip(texts, cut, ours)]
    families.setdefault(json.dumps([bos, cut]), []).append(name)

made = ("The length of each token, 1 or 2, in a vocabulary of all bytes but the missing ones and all pairs of the bytes that the texts have; "
        "for gemma4 and sarvam-moe, of the characters up to U+024F and of bytes (b) for others; "
        f"made by pretokenizers.py with llama.cpp b11434 and tokenizers {tokenizers.__version__}. " + ", ".join(sorted(trained)) +
        " as tokenizers says, all others as llama.cpp says.")
json.dump({"made": made, "missing": old["missing"], "texts": texts,
           "families": [{"names": n, "addBOS": json.loads(k)[0], "lengths": json.loads(k)[1]} for k, n in families.items()]}, sys.stdout, separators=(",", ":"))

"""Make a tiny chat model with random weights: a stand-in where no model hub can be reached.

Run as `tiny_chat.py <folder>` where PyTorch and transformers are. The tokenizer is trained on the
licences that every Debian root has. The weights have a fixed seed, so the same versions make the
same model. Raises SystemExit when two prompts get the same answer: then it would prove nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEXTS = Path("/usr/share/common-licenses")
TOKENS = 2048
SPECIAL = ["<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "<|begin|>{% for message in messages %}"
    "<|{{ message['role'] }}|>{{ message['content'] }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CONTEXT = 1024
PROMPTS = ("What is VMware Cloud Foundation?", "Count the GPUs.", "What is a GPU?", "Hello")


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer trained on the licences' words."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=TOKENS, special_tokens=SPECIAL, initial_alphabet=alphabet)
    files = sorted(str(path) for path in TEXTS.iterdir() if path.is_file() and not path.is_symlink())
    raw.train(files, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        pad_token=SPECIAL[1],
        chat_template=TEMPLATE,
        model_max_length=CONTEXT,
    )


def model(words: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Return a model of about 20 million random weights whose answers depend on the prompt."""
    torch.manual_seed(20240501)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=384,
        intermediate_size=1536,
        num_hidden_layers=8,
        num_attention_heads=6,
        max_position_embeddings=CONTEXT,
        # Larger than usual: with small weights the last token alone would decide what follows.
        initializer_range=0.12,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    made = LlamaForCausalLM(config).eval()
    # Only whole words are ever said: no part of a character, which a stream could not show, and no early end.
    unsaid = [number for number in range(len(words)) if not _is_word(words, number)]
    with torch.no_grad():
        made.lm_head.weight[torch.tensor(unsaid)] = 0
    made.generation_config = GenerationConfig(
        do_sample=False,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    return made


def _is_word(words: PreTrainedTokenizerFast, number: int) -> bool:
    text = str(words.decode([number], skip_special_tokens=True))
    return len(text) > 1 and text.isascii() and text.isprintable()


def answer(words: PreTrainedTokenizerFast, made: LlamaForCausalLM, prompt: str) -> str:
    """Return the model's answer of 16 tokens, always the likeliest ones."""
    message = [{"role": "user", "content": prompt}]
    inputs = words.apply_chat_template(
        message, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    with torch.no_grad():
        output = made.generate(**inputs, max_new_tokens=16, do_sample=False)
    return str(words.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))


def main(folder: Path) -> None:
    """Write the model and its tokenizer as transformers and vLLM read them."""
    words = tokenizer()
    made = model(words)
    answers = [answer(words, made, prompt) for prompt in PROMPTS]
    print(*answers, sep="\n")
    if len(set(answers)) != len(answers) or not all(answers):
        raise SystemExit(
            f"tiny model: found the answers {answers}, expected different ones; change its weights"
        )
    made.save_pretrained(folder)
    words.save_pretrained(folder)
    for file in folder.iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

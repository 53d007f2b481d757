"""Tests what the steps of the recipe rely on: python -m unittest test_recipe. Needs requirements.txt."""
import random
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

import lessons
import prepare
from asked import Chat
from average import average
from export import q8_0, tensors, write
from model import LM, Shape, grown, shrunk
from restore import restored
from samples import Decoder
from train import FIRST, FIRST_WEIGHT, USER_WEIGHT, weights
from vocabulary import ASSISTANT, TEMPLATE, USER, learn

TEXTS = ["hello there, how are you", "count to ten: 1, 2, 3", "Naïve café — 日本語 🙂", "how are you today"] * 3
SMALL = Shape(dim=64, layers=2, heads=2, kv=1, hd=32, ffn=64, vocab=300)


class Recipe(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def test_a_file_gives_the_model_back(self):
        model = LM(SMALL)
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            file = Path(folder) / "small.gguf"
            with open(file, "wb") as out:
                write(out, model, learn(TEXTS), "small", "f16", 64)
            again = restored(file)
        for (name, wanted), (_, got) in zip(tensors(model), tensors(again)):
            np.testing.assert_allclose(got, wanted, atol=1e-3, err_msg=name)

    def test_text_survives_the_vocabulary(self):
        vocabulary = learn(TEXTS)
        for text in TEXTS + ["never \t seen\n\n  ½"]:
            self.assertEqual(vocabulary.decode(vocabulary.encode(text)), text)

    def test_only_what_is_said_belongs_to_a_speaker(self):
        vocabulary = learn(TEXTS)
        ids, who = vocabulary.chat([("user", "hello"), ("assistant", "how are you")])
        said = {role: vocabulary.decode(i for i, w in zip(ids, who) if w == role) for role in (USER, ASSISTANT)}
        self.assertEqual(said, {USER: "hello<|im_end|>", ASSISTANT: "how are you<|im_end|>"})

    def test_what_was_left_out_before_is_left_out_again(self):
        taught = [lessons.Lesson("colour", ["which colour", "what shade"], ["red"]), lessons.Lesson("size", ["how large", "how big is it"], ["small"])]
        before = [[("user", "What shade?"), ("assistant", "red")]]
        train, held = prepare.split_lessons(taught, 20, random.Random(1), before)
        asked = {lessons.normal(text) for chat in train for role, text in chat if role == "user"}
        self.assertEqual(held, [[("user", "what shade"), ("assistant", "red")]])
        self.assertNotIn("what shade", asked)
        self.assertTrue({"which colour", "how large", "how big is it"} <= asked)

    def test_what_is_examined_or_unseen_is_not_taught(self):
        examined, unseen = {"what is a token that was refused", "name three"}, {"salutations"}
        for said, wanted in (("What is a token that was refused?", True), ("Name three.", False), ("Salutations!", True), ("Hello!", False)):
            self.assertEqual(prepare.asks_one_of([("user", "Hi"), ("assistant", "Hello!"), ("user", said)], examined, unseen), wanted, said)
        self.assertFalse(prepare.asks_one_of([("user", "Hi"), ("assistant", "Salutations")], examined, unseen))

    def test_the_first_tokens_of_an_answer_count_most(self):
        who = torch.tensor([[TEMPLATE, USER, TEMPLATE] + [ASSISTANT] * (FIRST + 2) + [TEMPLATE, ASSISTANT]])
        first = [FIRST_WEIGHT] * FIRST
        self.assertEqual(weights(who).tolist()[0], [torch.tensor(USER_WEIGHT).item(), 0] + first + [1, 1, 0, FIRST_WEIGHT])

    def test_a_grown_model_computes_the_same(self):
        small = LM(SMALL)
        large = grown(small, Shape(dim=64, layers=3, heads=2, kv=1, hd=32, ffn=96, vocab=300))
        ids = torch.randint(0, 300, (2, 20))
        with torch.no_grad():
            torch.testing.assert_close(large(ids), small(ids), atol=1e-5, rtol=1e-5)

    def test_a_shrunk_model_keeps_the_first_and_the_last_block(self):
        large = LM(Shape(dim=64, layers=3, heads=2, kv=1, hd=32, ffn=96, vocab=300))
        with torch.no_grad():  # the parts that will be dropped add nothing: the middle block, and a third of the hidden units
            large.blocks[1].wo.weight.zero_()
            for n, block in enumerate(large.blocks):
                block.down.weight[:, slice(None) if n == 1 else slice(10, 42)] = 0
            ids = torch.randint(0, 300, (2, 20))
            torch.testing.assert_close(shrunk(large, SMALL)(ids), large(ids), atol=1e-5, rtol=1e-5)

    def test_the_mean_of_models_has_the_mean_of_each_weight(self):
        first, second = LM(SMALL), LM(SMALL)
        wanted = {name: (p + 3 * q) / 4 for (name, p), q in zip(first.state_dict().items(), second.state_dict().values())}
        for name, got in average([first, second], [1, 3]).state_dict().items():
            torch.testing.assert_close(got, wanted[name])
        with self.assertRaises(ValueError):
            average([first, LM(Shape(dim=64, layers=1, heads=2, kv=1, hd=32, ffn=64, vocab=300))], [1, 1])
        with self.assertRaises(ValueError):
            average([first, second], [1])

    def test_decoding_with_a_cache_computes_the_same(self):
        model, ids = LM(SMALL).bfloat16(), torch.randint(0, 300, (2, 12))
        decoder = Decoder(model, 2, 12)
        with torch.no_grad():
            decoder.read(ids[:, :8])
            for n in range(8, 12):
                logits = decoder.read(ids[:, n : n + 1])
            torch.testing.assert_close(logits, model(ids)[:, -1].float(), atol=2e-2, rtol=2e-2)

    def test_a_chat_that_the_target_asks_has_one_question_and_one_answer(self):
        stop, chat = 9, Chat([1, 2], [3, 4], [5, 6], 9)
        for asked, answered in ((7, 8), (7, 8), (7, 8), (9, 8), (7, 8), (7, 8), (7, 8), (7, 9), (7, 8)):
            chat.add(asked, answered)  # add takes these tokens of the target where no token is given
        self.assertTrue(chat.whole)
        self.assertEqual(chat.ids, [1, 2, 3, 4, 7, stop, 5, 6, 8, stop])
        self.assertEqual(chat.who, [TEMPLATE] * 2 + [USER] * 4 + [TEMPLATE] * 2 + [ASSISTANT] * 2)

    def test_a_quantised_block_is_near_what_it_was(self):
        weights = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32)
        blocks = np.frombuffer(q8_0(weights), [("scale", "<f2"), ("q", "i1", 32)])
        again = (blocks["scale"].astype(np.float32)[:, None] * blocks["q"]).reshape(4, 64)
        self.assertLess(np.abs(again - weights).max(), np.abs(weights).max() / 127)

    def test_what_is_varied_keeps_its_words(self):
        rng = random.Random(2)
        same = sum(lessons.normal("How do I raise gamma?") in lessons.normal(lessons.varied("How do I raise gamma?", rng)) for _ in range(200))
        self.assertGreater(same, 100)

    def test_what_is_reworded_has_synonyms_in_place_of_words(self):
        rng = random.Random(3)
        seen = {lessons.reworded("How do I raise gamma?", rng) for _ in range(200)}
        self.assertIn("How do I raise gamma?", seen)
        self.assertIn("Is there a way to increase gamma?", seen)
        for question in seen:
            self.assertRegex(question, "^(How (do|can|would|could) i|What do i do to|Is there a way to|How do I) (raise|increase) gamma[?]$")

    def test_all_text_is_readable(self):
        here = Path(__file__).parent / "text"
        known = lessons.placeholders(here / "placeholders.json")
        for part in ("program", "general"):
            taught = lessons.read(here / part, known)
            self.assertGreater(len(taught), 300)
            for lesson in taught:
                self.assertTrue(lesson.chat or lesson.answers, lesson.id)


if __name__ == "__main__":
    unittest.main()

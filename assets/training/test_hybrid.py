"""Tests what the hybrid and the mixture promise: python -m unittest test_hybrid. Needs requirements.txt."""
import copy
import dataclasses
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader

import headfile
import hybridfile
from eagle import Eagle
from eaglehead import begin_as
from fit import attended, fit
from grow import grown, with_experts
from hybrid import CHUNK, HYBRID, MIXTURE, SMOKE, SMOKE_MIXTURE, Dense, Hybrid, Mixture, delta_rule, load, save
from hybridreference import drafted
from hybrids import Apart, agreement, distance, loss_of, scores_at
from hybrids import drafted as guesses_of
from mtp import HELD, Read, loss_at, train
from model import LM
from model import Shape as Pair
from reference import PROMPTS
from restore import restored, vocabulary
from test_recipe import TEXTS
from vocabulary import learn

OLD = Pair(dim=64, layers=2, heads=2, kv=1, hd=32, ffn=128, vocab=300)


def small(shape, **changes) -> Hybrid:
    return Hybrid(dataclasses.replace(shape, vocab=300, **changes)).eval()


class Hybrids(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def test_chunks_compute_what_one_token_after_the_other_does(self):
        q, k, v = (torch.randn(2, 3, CHUNK + 7, 8) for _ in range(3))
        k, decay, beta = k / k.norm(dim=-1, keepdim=True), -torch.rand(2, 3, CHUNK + 7), torch.rand(2, 3, CHUNK + 7)
        state, out = torch.zeros(2, 3, 8, 8), []
        for t in range(CHUNK + 7):
            state = state * decay[:, :, t, None, None].exp()
            wrong = v[:, :, t] - (k[:, :, t, None] @ state)[:, :, 0]
            state = state + k[:, :, t, :, None] * (beta[:, :, t, None] * wrong)[:, :, None]
            out.append((q[:, :, t, None] @ state)[:, :, 0])
        torch.testing.assert_close(delta_rule(q, k, v, decay, beta), torch.stack(out, 2), atol=1e-5, rtol=1e-4)

    def test_no_token_sees_a_later_one(self):
        ids = torch.randint(0, 300, (1, 20))
        other = ids.clone()
        other[0, 12:] = (ids[0, 12:] + 1) % 300
        for shape in (SMOKE, SMOKE_MIXTURE):
            model = small(shape)
            with torch.no_grad():
                same, changed = ((a - b).abs().amax(-1)[0] for a, b in [(model(ids)[:, :12], model(other)[:, :12]), (model(ids)[:, 12:], model(other)[:, 12:])])
            self.assertLess(same.max().item(), 1e-5)
            self.assertGreater(changed.min().item(), 1e-4)

    def test_a_mixture_adds_the_two_best_experts_and_that_of_all(self):
        mixture, x = Mixture(SMOKE_MIXTURE), torch.randn(1, 5, 64)
        with torch.no_grad():
            got, chances = mixture(x), torch.softmax(mixture.router(x), -1)
            for n in range(5):
                best = chances[0, n].topk(2)
                wanted = torch.sigmoid(mixture.weigh(x[0, n])) * mixture.shared(x[0, n])
                for share, e in zip(best.values / best.values.sum(), best.indices):
                    one, part = Dense(64, 32), slice(32 * int(e), 32 * int(e) + 32)
                    one.gate.weight, one.up.weight, one.down.weight = (
                        torch.nn.Parameter(w) for w in (mixture.parts.gate.weight[part], mixture.parts.up.weight[part], mixture.parts.down.weight[:, part])
                    )
                    wanted = wanted + share * one(x[0, n])
                torch.testing.assert_close(got[0, n], wanted)

    def test_a_step_of_a_draft_sees_what_one_alone_would(self):
        model, ids = small(SMOKE), list(range(20, 32))
        with torch.no_grad():
            states = model.norm(model.hidden(torch.tensor([ids]))[-1])
            tokens, _ = drafted(model, ids, states[:, :-1])
            embedded = model.emb(torch.tensor([ids + tokens[:2]]))
            at_once = model.head(embedded, torch.cat([states, torch.zeros(1, 2, 64)], 1))
            self.assertEqual(tokens, [int((g[0, len(ids) - 2] @ model.emb.weight.T).argmax()) for g in at_once])
            shorter = model.head(embedded[:, : len(ids)], states)  # later tokens change nothing
            torch.testing.assert_close(shorter[0][0], at_once[0][0, : len(ids) - 1], atol=1e-5, rtol=1e-4)

    def test_what_is_grown_without_a_recurrent_layer_computes_the_same(self):
        old, ids = LM(OLD), torch.randint(0, 300, (2, 20))
        new = grown(old, dataclasses.replace(SMOKE, vocab=300, every=1))
        with torch.no_grad():
            torch.testing.assert_close(new(ids), old(ids), atol=1e-5, rtol=1e-5)

    def test_the_experts_share_all_hidden_units_that_the_first_does_not_take(self):
        old = LM(OLD)
        feed = grown(old, dataclasses.replace(SMOKE_MIXTURE, vocab=300)).blocks[0].feed
        taken = torch.cat([feed.shared.up.weight, feed.parts.up.weight])
        there = {tuple(row.tolist()) for row in old.blocks[0].up.weight}
        self.assertEqual(len(taken), 128)
        self.assertEqual({tuple(row.tolist()) for row in taken}, there)

    def test_every_weight_but_the_embedding_learns(self):
        teacher = LM(OLD).requires_grad_(False)
        for shape in (dataclasses.replace(SMOKE, vocab=300), dataclasses.replace(SMOKE_MIXTURE, vocab=300)):
            model = grown(teacher, shape)
            model.emb.requires_grad_(False)
            loss, agreed = loss_of(model, teacher, torch.randint(0, 300, (4, 64)), torch.ones(4, 64), 2)
            loss.backward()
            self.assertEqual(len(agreed), 3)
            again, _ = loss_of(model, teacher, torch.randint(0, 300, (4, 64)), torch.ones(4, 64), 2)
            again.backward()  # a second step needs nothing of the first
            still = [name for name, p in model.named_parameters() if p.requires_grad and (p.grad is None or not p.grad.abs().max() > 0)]
            self.assertEqual(still, [])

    def test_the_model_learns_what_the_head_needs_but_not_to_be_guessed(self):
        model, ids = small(SMOKE), torch.randint(0, 300, (2, 64))
        states = torch.randn(2, 64, 64, requires_grad=True)
        guesses_of(model, ids, torch.ones(2, 64, dtype=torch.bool), states, 2)[0].backward()
        self.assertTrue(states.grad[:, :-1].abs().amax((0, 2)).gt(0).all())
        self.assertEqual(states.grad[:, -1].abs().max().item(), 0)  # no guess is made from the last state: it is only guessed

    def test_parts_learn_apart_from_states_that_are_computed_once(self):
        class Once:
            def batch(self, rows):
                return torch.randint(0, 300, (rows, 64)), None, torch.ones(rows, 64)

        teacher = LM(OLD).requires_grad_(False)
        hybrid = grown(teacher, dataclasses.replace(SMOKE, vocab=300))
        for model, parts in ((hybrid, 1), (with_experts(hybrid, dataclasses.replace(SMOKE_MIXTURE, vocab=300)), 3)):
            apart, far = Apart(model, teacher, Once(), 2, 3), []
            learning = torch.optim.AdamW([p for n, p in model.named_parameters() if n != "emb.weight"], lr=3e-3)
            for step in range(30):
                learning.zero_grad()
                loss, (distance, *_) = apart.loss(step, 2)
                loss.backward()
                learning.step()
                far.append(distance)
            self.assertEqual((len(apart.kept), len(apart.kept[0][2])), (3, parts))
            self.assertLess(far[-1], 0.9 * far[0])

    def test_what_is_fitted_is_nearer_to_the_teacher(self):
        teacher, texts = LM(OLD).requires_grad_(False), [torch.randint(0, 300, (4, 64)) for _ in range(6)]
        for shape in (SMOKE, SMOKE_MIXTURE):
            before = grown(teacher, dataclasses.replace(shape, vocab=300))
            after = copy.deepcopy(before)
            fit(after, teacher, texts)
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
                stream = teacher.hidden(texts[0])
                states = teacher.norm(stream[-1])
                added = attended(teacher.blocks[0], stream[0])
                far = [[distance(m.blocks[0].mix(teacher.blocks[0].attn_norm(stream[0])), added), distance(m.head(m.emb(texts[0]), states, 1)[0], states[:, 1:])] for m in (before, after)]
            for old, new in zip(*far):
                self.assertLess(new, 0.9 * old)

    def test_a_layer_of_mtp_begins_as_the_eagle_head_of_its_teacher(self):
        pair = Path(__file__).parent.parent / "pair"
        target, words = restored(pair / "target.gguf").eval(), vocabulary(pair / "target.gguf")
        eagle = Eagle(target)
        eagle.restore(headfile.read(pair / "heads" / "eagle" / "model.safetensors"))
        ids = torch.tensor([words.prompt([("user", prompt)]) for prompt in PROMPTS[:1]])
        with torch.no_grad():
            for _ in range(40):
                ids = torch.cat([ids, target(ids)[:, -1:].argmax(-1)], -1)
            embedded, states = target.emb(ids), target.norm(target.hidden(ids)[-1])
            for shape in (HYBRID, MIXTURE):
                model = grown(target, shape).eval()
                begin_as(model.head, eagle, embedded, states)
                for got, wanted in zip(model.head(embedded, states), eagle(embedded, states)):
                    got, wanted = (scores_at(target, guess, slice(None))[0, -40:] for guess in (got, wanted))
                    self.assertGreater(agreement(got, wanted), 0.75)

    def test_only_the_layer_of_mtp_learns_and_only_from_answers(self):
        class Texts:
            def batch(self, rows):
                weight = torch.zeros(rows, 64)
                weight[:, 10:30], weight[:, 30:] = 0.15, 1
                return torch.arange(64).expand(rows, 64) * 3, None, weight

        for shape in (SMOKE, SMOKE_MIXTURE):
            model = small(shape)
            model.requires_grad_(False)
            model.head.requires_grad_(True)
            before, read = copy.deepcopy(model), Read(model, Texts(), 2, 3)
            with tempfile.TemporaryDirectory() as folder:
                train(model, read, Read(model, Texts(), 2, HELD), 2, 12, 3e-3, Path(folder) / "model.pt")
                after = load(Path(folder) / "model.pt").state_dict()
            self.assertEqual(len(read.kept), 3)
            self.assertEqual(read.kept[0][1].sum(-1).tolist(), [34, 34])
            changed = {name for name, p in before.state_dict().items() if not torch.equal(p, after[name])}
            self.assertTrue(changed and all(name.startswith("head.") for name in changed), changed)
            self.assertLess(*(loss_at(m, read.at(3), 2)[0].item() for m in (model, before)))

    def test_experts_of_a_hybrid_take_all_else_from_it(self):
        hybrid = small(SMOKE)
        made = with_experts(hybrid, dataclasses.replace(SMOKE_MIXTURE, vocab=300)).state_dict()
        for name, p in hybrid.state_dict().items():
            if ".feed." not in name:
                torch.testing.assert_close(made[name], p)

    def test_a_file_has_every_weight_and_says_its_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            for shape, name in ((SMOKE, "qwen35"), (SMOKE_MIXTURE, "qwen35moe")):
                model, path, file = small(shape), Path(folder) / "model.pt", Path(folder) / f"{name}.gguf"
                save(model, path)
                hybridfile.write(file, load(path), learn(TEXTS), "small", "f32", 64)
                read = GGUFReader(file)
                self.assertEqual(read.fields["general.architecture"].contents(), name)
                self.assertEqual(read.fields[f"{name}.block_count"].contents(), 3)
                self.assertEqual(read.fields[f"{name}.nextn_predict_layers"].contents(), 1)
                found = {t.name: t.data for t in read.tensors}
                self.assertEqual(sum(t.size for t in found.values()), sum(p.numel() for p in model.parameters()))
                for tensor, weight in hybridfile.tensors(model).items():
                    np.testing.assert_array_equal(found[tensor].reshape(weight.shape), weight.detach().numpy(), err_msg=tensor)


if __name__ == "__main__":
    unittest.main()

"""Checks that the drills are right: python3 -m unittest test_drills (from this folder)."""

import pathlib
import random
import re
import unittest

from drill import arithmetic, context, copying, counting, facts, followups, lists, numbers, refusals, speech, tables, visitors, words
from drills import drills

_TEXT = pathlib.Path(__file__).resolve().parent / "text" / "general"


def plain(text: str) -> str:
    """A question without case and marks, as two people may type the same one."""
    return re.sub(r"[^a-z0-9+*/ -]", "", text.lower()).strip()


def written() -> list[tuple[str, list[str], list[str]]]:
    """(file name, questions, answers) of every block in text/general; X-asked.txt asks again what X.txt answers."""
    blocks, answered = [], {}
    for path in sorted(_TEXT.glob("*.txt"), key=lambda path: (path.stem.endswith("-asked"), path.name)):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            lines = [line.split(": ", 1) for line in block.splitlines() if line and not line.startswith("#")]
            answers = [text for key, text in lines if key == "a"]
            topic = next((text for key, text in lines if key == "id"), "")
            blocks.append((path.name, [text for key, text in lines if key == "q"], answered.setdefault(topic, answers)))
    return blocks


class Drills(unittest.TestCase):
    def test_the_same_seed_gives_the_same_chats(self) -> None:
        first, second, other = (list(drills(random.Random(seed), 200)) for seed in (5, 5, 6))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)

    def test_users_and_answers_take_turns(self) -> None:
        for chat in drills(random.Random(1), 2000):
            self.assertEqual([role for role, _ in chat], ["user", "assistant"] * (len(chat) // 2))
            for _, text in chat:
                self.assertEqual(text, text.strip())
                self.assertTrue(text)
                self.assertNotRegex(text, r"\{[a-z0-9]*\}")

    def test_one_question_has_one_answer(self) -> None:
        answers: dict[str, str] = {}
        for chat in drills(random.Random(2), 4000):
            (_, question), (_, answer) = chat[:2]
            if question not in answers:
                answers[question] = answer
            self.assertEqual(answers[question], answer, question)

    def test_the_written_answers_agree_with_the_drills(self) -> None:
        known = {plain(q): a[0] for _, qs, a in written() for q in qs if plain(q)}
        for chat in drills(random.Random(3), 4000):
            question, answer = plain(chat[0][1]), chat[1][1]
            if answer in chat[0][1]:
                continue  # copied: say "thank you in Italian"
            self.assertEqual(known.get(question, answer), answer, question)


class Copying(unittest.TestCase):
    def test_the_answer_is_what_was_asked_letter_by_letter(self) -> None:
        rng = random.Random(1)
        for _ in range(1500):
            chat = copying.copying(rng)
            for (_, request), (_, answer) in zip(chat[::2], chat[1::2]):
                if re.search(r"\b(twice|times)\b", request) and len(chat) == 2 and ", " in answer:
                    continue  # "say cat three times"
                if answer not in request:  # "say that again"
                    self.assertIn(answer, chat[0][1] + chat[max(0, len(chat) - 4)][1] + "".join(t for _, t in chat))
            self.assertTrue(chat[1][1] in chat[0][1] or ", " in chat[1][1], chat)

    def test_texts_have_one_to_twelve_words_and_many_are_new(self) -> None:
        rng = random.Random(2)
        texts = [copying.text_to_copy(rng) for _ in range(2000)]
        self.assertTrue(all(1 <= len(text.split()) <= 12 for text in texts))
        self.assertGreater(len(set(texts)), 1900)

    def test_what_others_said_is_copied_whole_in_words_and_disturbed(self) -> None:
        said = ("the quorum vexed my glib zephyr", "we waltz past nymphs and jinxed bogs")
        rng = random.Random(4)
        texts = [copying.text_to_copy(rng, said) for _ in range(2000)]
        self.assertTrue(all(1 <= len(text.split()) <= 12 for text in texts))
        self.assertTrue(set(said) & set(texts))
        begun = [text for text in texts if text.startswith("the quorum ") and text not in said]
        self.assertTrue(begun and all(len(text.split()) >= 6 for text in begun))
        self.assertTrue(any("zephyr" in text and not text.startswith("the ") for text in texts))

    def test_the_vocabulary_is_large(self) -> None:
        self.assertGreater(len(copying.vocabulary()), 2000)

    def test_a_style_never_touches_the_text(self) -> None:
        rng = random.Random(3)
        for _ in range(500):
            self.assertTrue(speech.wording(rng, "copy this: {text} | echo {text}", text="aB c  d").endswith("aB c  d"))


class Counting(unittest.TestCase):
    def test_main_forms(self) -> None:
        self.assertEqual(counting.numbers(1, 10), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10.")
        self.assertEqual(counting.numbers(10, 1), "10, 9, 8, 7, 6, 5, 4, 3, 2, 1.")
        self.assertEqual(counting.numbers(2, 8, 2), "2, 4, 6, 8.")
        self.assertEqual(counting.words(3), "one, two, three.")
        self.assertEqual(numbers.in_words(42), "forty-two")

    def test_every_count_goes_on_by_the_same_step(self) -> None:
        rng = random.Random(1)
        for _ in range(2000):
            for _, answer in counting.counting(rng)[1::2]:
                if answer[0].isdigit():
                    row = [int(n) for n in answer.rstrip(".").split(", ")]
                    self.assertEqual(len({b - a for a, b in zip(row, row[1:])}), 1, answer)


class Arithmetic(unittest.TestCase):
    def test_sums_in_digits_are_right(self) -> None:
        rng, seen = random.Random(1), 0
        for _ in range(2000):
            for _, answer in arithmetic.arithmetic(rng)[1::2]:
                match = re.fullmatch(r"(\d+) ([-+x]) (\d+) = (\d+)\.", answer)
                if match:
                    a, sign, b, total = int(match[1]), match[2], int(match[3]), int(match[4])
                    self.assertEqual(total, {"+": a + b, "-": a - b, "x": a * b}[sign], answer)
                    seen += 1
        self.assertGreater(seen, 500)

    def test_words(self) -> None:
        self.assertEqual(arithmetic.answer(3, "plus", 4, True), "Three plus four is seven.")
        self.assertEqual(arithmetic.answer(7, "times", 8, False), "7 x 8 = 56.")


    def test_all_sums_of_one_digit_are_asked(self) -> None:
        rng, answers = random.Random(1), set()
        for _ in range(12000):
            answers.add(arithmetic.one_digit(rng)[1][1])
        digits = range(10)
        for a in digits:
            for b in digits:
                self.assertIn(f"{a} + {b} = {a + b}.", answers)
                self.assertIn(f"{a} x {b} = {a * b}.", answers)
                self.assertIn(f"{max(a, b)} - {min(a, b)} = {abs(a - b)}.", answers)

    def test_no_sum_that_is_taught_is_refused(self) -> None:
        rng, seen = random.Random(2), 0
        for _ in range(20000):
            (_, question), (_, answer) = arithmetic.arithmetic(rng)[:2]
            sum_of = re.search(r"\b(\d+) ?(?:\+|plus) ?(\d+)\b(?!,)", question)
            if sum_of and answer == arithmetic.TOO_BIG:
                a, b = int(sum_of[1]), int(sum_of[2])
                self.assertGreater(a + b, 20, question)
                self.assertTrue(a % 10 or b % 10 or a + b > 100, question)
                seen += a < 100 and b < 100
        self.assertGreater(seen, 100)


class Visitors(unittest.TestCase):
    def test_the_answers_are_the_written_ones(self) -> None:
        known = {answer for _, _, answers in written() for answer in answers}
        program = (_TEXT.parent / "program").glob("*.txt")
        known |= {line[3:].strip() for path in program for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("a: ")}
        rng = random.Random(1)
        for _ in range(2000):
            self.assertIn(visitors.greeting(rng)[1][1], known)

    def test_a_greeting_in_front_changes_no_answer(self) -> None:
        rng, by_question = random.Random(2), {}
        for _ in range(20000):
            (_, question), (_, answer) = visitors.greeting(rng)
            for front in ("Hi there", "Hello", "Good day"):
                if question.startswith(front) and plain(question) != plain(front):
                    by_question.setdefault(plain(question[len(front):]), set()).add(answer)
        self.assertGreater(len(by_question), 100)
        for question, answers in by_question.items():
            self.assertEqual(len(answers), 1, question)


class Context(unittest.TestCase):
    def test_what_is_asked_back_was_told_last(self) -> None:
        rng, names = random.Random(1), 0
        for _ in range(1500):
            told = None
            for _, answer in context.context(rng)[1::2]:
                if match := re.search(r"Nice to meet you, (\w+)!", answer):
                    told = match[1]
                if match := re.fullmatch(r"Your name is (\w+)\.", answer):
                    self.assertEqual(match[1], told)
                    names += 1
        self.assertGreater(names, 500)

    def test_the_values_come_from_the_user(self) -> None:
        rng = random.Random(2)
        for _ in range(1000):
            chat = context.remembered(rng)
            said = " ".join(text for role, text in chat if role == "user").lower()
            for _, answer in chat[1::2]:
                if match := re.match(r"Your .* is (?:called |in )?(.+)\.$", answer):
                    self.assertIn(match[1].lower(), said)

    def test_quotes_repeat_an_earlier_turn(self) -> None:
        rng = random.Random(3)
        for _ in range(1000):
            chat = context.what_was_said(rng)
            quoted = re.fullmatch(r'(?:You said|You first said|I said): "(.*)"', chat[-1][1], re.S)
            self.assertIn(quoted[1] if quoted else chat[-1][1], [text for _, text in chat[:-2]])

    def test_what_was_not_told_is_not_invented(self) -> None:
        for _ in range(200):
            chat = context.not_told(random.Random(4), list(context.FACTS))
            self.assertRegex(chat[1][1], r"^You have not told me .* yet\.$")


class FactsAndFollowups(unittest.TestCase):
    def test_tables_speak(self) -> None:
        self.assertEqual(facts.capital_answer("the United States"), "The capital of the United States is Washington, D.C.")
        self.assertEqual(facts.neighbour_answer(tables.DAYS, 6, True), "After Sunday comes Monday.")
        self.assertEqual(facts.spelling_answer("Cat"), "c, a, t.")
        self.assertEqual(facts.word_answer("opposite", "heavy"), "The opposite of heavy is light.")

    def test_follow_up_capitals_are_those_of_the_country_named_last(self) -> None:
        rng, seen = random.Random(1), 0
        for _ in range(2000):
            for _, answer in followups.countries(rng)[1::2]:
                if match := re.match(r"The capital of (.+) is (.+?)\.?$", answer):
                    self.assertEqual(tables.COUNTRIES[match[1]][0].rstrip("."), match[2])
                    seen += 1
        self.assertGreater(seen, 500)

    def test_another_one_is_a_new_one(self) -> None:
        rng = random.Random(2)
        for _ in range(300):
            items = [text for _, text in followups.another(rng)[1::2]]
            self.assertEqual(len(items), len(set(items)))
            self.assertGreaterEqual(len(items), 2)


class Lists(unittest.TestCase):
    def test_the_items_asked_for_stand_where_the_answer_says(self) -> None:
        rng, seen = random.Random(1), 0
        for _ in range(1000):
            answers = [answer for _, answer in lists.lists(rng)[1::2]]
            told = [answer for answer in answers if answer.startswith("I see: ")]
            for answer in answers:
                match = re.fullmatch(r"The (first|second|last) one is (.+)\.", answer)
                if match and told:
                    items = re.split(", | and ", told[-1].removeprefix("I see: ").rstrip("."))
                    self.assertEqual(items[{"first": 0, "second": 1, "last": -1}[match[1]]], match[2])
                    seen += 1
        self.assertGreater(seen, 100)


class Wordings(unittest.TestCase):
    def test_the_choices_and_parts_of_a_template_are_made(self) -> None:
        rng = random.Random(1)
        made = {speech.chosen(rng, "<do> [this/that] | now", do="copy | say [it/out]") for _ in range(200)}
        self.assertEqual(made, {"copy this", "copy that", "say it this", "say it that", "say out this", "say out that", "now"})

    def test_the_words_are_many_and_each_stands_once_in_its_list(self) -> None:
        kinds = (words.NOUNS, words.VERBS, words.ADJECTIVES, words.ADVERBS)
        self.assertEqual([len(kind) for kind in kinds], [len(set(kind)) for kind in kinds])
        self.assertGreater(len(set().union(*kinds)), 850)

    def test_requests_are_worded_in_many_ways(self) -> None:
        rng = random.Random(2)
        self.assertGreater(len({counting.counting(rng)[0][1] for _ in range(1000)}), 900)


class Refusals(unittest.TestCase):
    def test_the_subject_is_copied(self) -> None:
        rng = random.Random(1)
        for _ in range(1000):
            chat = refusals.unknown(rng)
            for (_, question), (_, answer) in zip(chat[::2], chat[1::2]):
                subject = answer.removeprefix("I do not know about ").split(". I am a tiny model;")[0]
                self.assertIn(subject.lower(), question.lower())

    def test_no_refused_subject_is_a_written_topic(self) -> None:
        asked = " " + " | ".join(plain(q) for _, qs, _ in written() for q in qs) + " "
        for subject in refusals.SUBJECTS:
            self.assertNotIn(f" {plain(subject.removeprefix('the '))} ", asked)


class Written(unittest.TestCase):
    def test_blocks_are_whole_and_short(self) -> None:
        asked: dict[str, str] = {}
        for name, questions, answers in written():
            self.assertEqual(bool(questions), bool(answers), name)
            if not questions:
                continue
            self.assertEqual(len(answers), 1, questions[0])
            if not name.endswith("-asked.txt"):
                self.assertTrue(8 <= len(questions) <= 14, questions)
            if "```" not in answers[0]:
                self.assertLessEqual(len(answers[0].split()), 45, answers[0])
            for question in questions:
                key = plain(question) or question
                self.assertEqual(asked.setdefault(key, answers[0]), answers[0], question)

    def test_files_stay_readable(self) -> None:
        for path in _TEXT.glob("*.txt"):
            self.assertLess(len(path.read_text(encoding="utf-8").splitlines()), 400, path.name)


if __name__ == "__main__":
    unittest.main()

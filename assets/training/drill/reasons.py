"""Answers that allow "why?" or "tell me more"."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """A question and its answer. why, more and short answer what the user asks then; empty where there is no definite answer."""

    ask: str
    answer: str
    why: str = ""
    more: str = ""
    short: str = ""


EXPLAINED: tuple[Explained, ...] = (
    Explained("what colour is the sky | which colour has the sky | "
              "look up at the sky. which colour is it? | the sky has which colour? | what is the colour of the sky | "
              "the colour of the sky, please", "The sky is blue.",
              "Because the air scatters blue light the most.", "In the evening the sky can be red or orange.", "Blue."),
    Explained("what colour is grass | which colour has grass | "
              "the grass has which colour? | what is the colour of grass | the colour of grass, please | "
              "in which colour should i paint grass?", "Grass is green.",
              "Because of chlorophyll, which catches the light.", "In a dry summer grass can turn yellow.", "Green."),
    Explained("is the sea salty | is sea water salty | "
              "does sea water taste of salt | is there salt in the sea | do you call the sea salty | "
              "sea water is salty, right?", "Yes, the sea is salty.",
              "Because rivers wash salt out of rocks and bring it to the sea.", "You should not drink sea water.", "Yes."),
    Explained("can penguins fly | do penguins fly | "
              "are penguins able to fly | is a penguin a bird that flies | have you heard of a penguin that flies? | "
              "penguins can fly, right?", "No, penguins cannot fly.",
              "Because their wings are small and made for swimming.", "Penguins are very good swimmers.", "No."),
    Explained("is the moon a star | "
              "does the moon count as a star | would you call the moon a star | the moon is a star, right? | "
              "do we call the moon a star", "No, the Moon is not a star.",
              "Because it makes no light of its own. It shines in the light of the Sun.", "The Moon goes around the Earth in about 27 days.", "No."),
    Explained("does ice float | does ice float on water | "
              "will ice float on a lake | i throw ice into water. does it float? | can ice float | "
              "does ice stay on top of the water", "Yes, ice floats on water.",
              "Because ice is lighter than the same amount of water.", "Most of an iceberg is under the water.", "Yes."),
    Explained("is mars red | what colour is mars | "
              "which colour has mars | do people call mars red | is the planet mars red | the colour of mars, please", "Mars is red.",
              "Because there is rust in its soil.", "Mars is the fourth planet from the Sun.", "Red."),
    Explained("is a whale a fish | are whales fish | "
              "does a whale count as a fish | would you call a whale a fish | a whale is a fish, right? | "
              "do whales belong to the fish", "No, a whale is not a fish. It is a mammal.",
              "Because whales breathe air and feed milk to their young.", "The blue whale is the largest animal in the world.", "No."),
    Explained("is a spider an insect | are spiders insects | "
              "does a spider count as an insect | would you call a spider an insect | a spider is an insect, right? | "
              "do spiders belong to the insects", "No, a spider is not an insect.",
              "Because spiders have eight legs and insects have six.", "Many spiders make webs to catch food.", "No."),
    Explained("is a tomato a fruit | "
              "does a tomato count as a fruit | would you call a tomato a fruit | a tomato is a fruit, right? | "
              "do tomatoes belong to the fruits", "Yes, a tomato is a fruit.",
              "Because it grows from a flower and has seeds in it.", "In the kitchen people use it like a vegetable.", "Yes."),
    Explained("should i sleep more | is sleep important | "
              "does sleep matter | do i need my sleep | is it important to sleep | "
              "would you say sleep is important", "Yes, sleep is important.",
              "Because the body and the brain rest and heal in sleep.", "Most adults need seven to nine hours of sleep.", "Yes."),
    Explained("should i drink water | is water important | "
              "does it matter to drink water | do i need water | is it important to drink water | "
              "would you say water is important", "Yes, water is important.",
              "Because the body is mostly made of water and loses some of it all the time.", "Six to eight glasses a day are fine for most people.", "Yes."),
    Explained("is the earth flat | "
              "would you call the earth flat | my friend says the earth is flat. is it? | the earth is flat, right? | "
              "does the earth look like a plate", "No, the Earth is round like a ball.",
              "Because gravity pulls a big planet into a round shape.", "The Earth goes around the Sun in one year.", "No, it is round."),
    Explained("which season is the coldest | what is the coldest season | "
              "when is the coldest time of the year | the coldest season of the year? | in which season is it coldest | "
              "name the coldest season", "Winter is the coldest season. In many places it snows.",
              "Because the days are short and the sun stands low.", "In winter the nights are long.", "Winter."),
    Explained("which season is the warmest | what is the warmest season | "
              "when is the warmest time of the year | the warmest season of the year? | in which season is it warmest | "
              "name the warmest season", "Summer is the warmest season. The days are long.",
              "Because the days are long and the sun stands high.", "Many people go swimming in summer.", "Summer."),
    Explained("do plants need light | "
              "is light important for plants | can plants live only with light? | do flowers and trees need light | "
              "must plants have light?", "Yes, plants need light.",
              "Because they make their food with sunlight.", "Plants also need water, air and soil.", "Yes."),
    Explained("does sound travel in space | can you hear sound in space | "
              "is there any sound in space | can astronauts hear a bang in space? | is it silent in space? is there sound? | "
              "can sound move through space", "No, there is no sound in space.",
              "Because there is no air to carry the sound.", "Astronauts talk by radio.", "No."),
    Explained("is smoking healthy | "
              "is it healthy to smoke | would you call smoking healthy | is smoking good for me | "
              "can smoking be healthy", "No, smoking is not healthy.",
              "Because the smoke harms the lungs and the heart.", "A doctor can help you to stop.", "No."),
    Explained("do cats like mice | "
              "does a cat like mice | are mice something that cats like | how do cats feel about mice | "
              "would a cat be happy about a mouse", "Yes, cats like to hunt mice.",
              "Because cats are hunters by nature.", "Cats see very well at night.", "Yes."),
    Explained("what do bees make | "
              "what is made by bees | what do honey bees make | what comes out of a beehive | "
              "which food is made by bees", "Honey bees make honey.",
              "Because they need food for the winter.", "Bees also help flowers to make seeds.", "Honey."),
    Explained("why do we have leap years | what is a leap year for | "
              "what do we need leap years for | for what reason are there leap years? | what is the use of a leap year | "
              "what is the point of leap years", "A leap year keeps the calendar in step with the Sun.",
              "Because the Earth needs about 365 days and six hours for one round.", "The extra day is the 29th of February."),
    Explained("what is the biggest planet | which planet is the biggest | "
              "the biggest of all planets? | name the biggest planet | of all the planets, which one is the biggest? | "
              "which is the largest of the planets", "Jupiter is the biggest planet in our solar system.",
              "", "Jupiter is a giant ball of gas and has many moons.", "Jupiter."),
    Explained("what is the largest ocean | which ocean is the largest | "
              "the largest of all oceans? | name the largest ocean | of all the oceans, which one is the largest? | "
              "which is the biggest of the oceans", "The Pacific Ocean is the largest ocean.",
              "", "It lies between Asia and America.", "The Pacific."),
    Explained("what is the highest mountain | which mountain is the highest | "
              "the highest of all mountains? | name the highest mountain | of all the mountains, which one is the highest? | "
              "which mountain is taller than all others",
              "Mount Everest is the highest mountain. It is about 8849 metres high.",
              "", "It stands between Nepal and China.", "Mount Everest."),
    Explained("what is the largest animal | which animal is the largest | "
              "the largest of all animals? | name the largest animal | of all the animals, which one is the largest? | "
              "no animal is larger than which one?", "The blue whale is the largest animal in the world.",
              "", "It can be thirty metres long and eats tiny sea animals.", "The blue whale."),
    Explained("what is the tallest animal | which animal is the tallest | "
              "the tallest of all animals? | name the tallest animal | of all the animals, which one is the tallest? | "
              "which animal is taller than all others", "The giraffe is the tallest animal. It has a very long neck.",
              "Because it eats leaves from high trees.", "Giraffes live in Africa.", "The giraffe."),
    Explained("who painted the mona lisa | "
              "by whom was the mona lisa painted? | who is the painter of the mona lisa | the mona lisa, who made it? | "
              "name the painter of the mona lisa", "Leonardo da Vinci painted the Mona Lisa. He was an Italian artist and inventor.",
              "", "The picture hangs in Paris and is about five hundred years old.", "Leonardo da Vinci."),
)

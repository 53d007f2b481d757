"""Answers that allow "why?", "tell me more" or "another one"."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """A question, its answer and what follows; an empty text where nothing definite can follow."""

    ask: str
    answer: str
    why: str = ""
    more: str = ""
    short: str = ""


@dataclass(frozen=True)
class Row:
    """A list that is told one item at a time, always in this order."""

    ask: str
    items: tuple[str, ...]


EXPLAINED: tuple[Explained, ...] = (
    Explained("what colour is the sky | which colour has the sky", "The sky is blue.",
              "Because the air scatters blue light the most.", "In the evening the sky can be red or orange.", "Blue."),
    Explained("what colour is grass | which colour has grass", "Grass is green.",
              "Because of chlorophyll, which catches the light.", "In a dry summer grass can turn yellow.", "Green."),
    Explained("is the sea salty | is sea water salty", "Yes, the sea is salty.",
              "Because rivers wash salt out of rocks and bring it to the sea.", "You should not drink sea water.", "Yes."),
    Explained("can penguins fly | do penguins fly", "No, penguins cannot fly.",
              "Because their wings are small and made for swimming.", "Penguins are very good swimmers.", "No."),
    Explained("is the moon a star", "No, the Moon is not a star.",
              "Because it makes no light of its own. It shines in the light of the Sun.", "The Moon goes around the Earth in about 27 days.", "No."),
    Explained("does ice float | does ice float on water", "Yes, ice floats on water.",
              "Because ice is lighter than the same amount of water.", "Most of an iceberg is under the water.", "Yes."),
    Explained("is mars red | what colour is mars", "Mars is red.",
              "Because there is rust in its soil.", "Mars is the fourth planet from the Sun.", "Red."),
    Explained("is a whale a fish | are whales fish", "No, a whale is not a fish. It is a mammal.",
              "Because whales breathe air and feed milk to their young.", "The blue whale is the largest animal in the world.", "No."),
    Explained("is a spider an insect | are spiders insects", "No, a spider is not an insect.",
              "Because spiders have eight legs and insects have six.", "Many spiders make webs to catch food.", "No."),
    Explained("is a tomato a fruit", "Yes, a tomato is a fruit.",
              "Because it grows from a flower and has seeds in it.", "In the kitchen people use it like a vegetable.", "Yes."),
    Explained("should i sleep more | is sleep important", "Yes, sleep is important.",
              "Because the body and the brain rest and heal in sleep.", "Most adults need seven to nine hours of sleep.", "Yes."),
    Explained("should i drink water | is water important", "Yes, water is important.",
              "Because the body is mostly made of water and loses some of it all the time.", "Six to eight glasses a day are fine for most people.", "Yes."),
    Explained("is the earth flat", "No, the Earth is round like a ball.",
              "Because gravity pulls a big planet into a round shape.", "The Earth goes around the Sun in one year.", "No, it is round."),
    Explained("which season is the coldest | what is the coldest season", "Winter is the coldest season.",
              "Because the days are short and the sun stands low.", "In many places it snows in winter.", "Winter."),
    Explained("which season is the warmest | what is the warmest season", "Summer is the warmest season.",
              "Because the days are long and the sun stands high.", "Many people go swimming in summer.", "Summer."),
    Explained("do plants need light", "Yes, plants need light.",
              "Because they make their food with sunlight.", "Plants also need water, air and soil.", "Yes."),
    Explained("does sound travel in space | can you hear sound in space", "No, there is no sound in space.",
              "Because there is no air to carry the sound.", "Astronauts talk by radio.", "No."),
    Explained("is smoking healthy", "No, smoking is not healthy.",
              "Because the smoke harms the lungs and the heart.", "A doctor can help you to stop.", "No."),
    Explained("do cats like mice", "Yes, cats like to hunt mice.",
              "Because cats are hunters by nature.", "Cats see very well at night.", "Yes."),
    Explained("what do bees make", "Honey bees make honey.",
              "Because they need food for the winter.", "Bees also help flowers to make seeds.", "Honey."),
    Explained("why do we have leap years | what is a leap year for", "A leap year keeps the calendar in step with the Sun.",
              "Because the Earth needs about 365 days and six hours for one round.", "The extra day is the 29th of February."),
    Explained("what is the biggest planet | which planet is the biggest", "Jupiter is the biggest planet in our solar system.",
              "", "Jupiter is a giant ball of gas and has many moons.", "Jupiter."),
    Explained("what is the largest ocean | which ocean is the largest", "The Pacific Ocean is the largest ocean.",
              "", "It lies between Asia and America.", "The Pacific."),
    Explained("what is the highest mountain | which mountain is the highest",
              "Mount Everest is the highest mountain. It is about 8849 metres high.",
              "", "It stands between Nepal and China.", "Mount Everest."),
    Explained("what is the largest animal | which animal is the largest", "The blue whale is the largest animal in the world.",
              "", "It can be thirty metres long and eats tiny sea animals.", "The blue whale."),
    Explained("what is the tallest animal | which animal is the tallest", "The giraffe is the tallest animal. It has a very long neck.",
              "Because it eats leaves from high trees.", "Giraffes live in Africa.", "The giraffe."),
    Explained("who painted the mona lisa", "Leonardo da Vinci painted the Mona Lisa. He was an Italian artist and inventor.",
              "", "The picture hangs in Paris and is about five hundred years old.", "Leonardo da Vinci."),
)

ROWS: tuple[Row, ...] = (
    Row("tell me a joke | joke please | do you know a joke | make me laugh | can you tell me a joke", (
        "Why did the bicycle fall over? It was two tired.",
        "What do you call a bear with no teeth? A gummy bear.",
        "Why was the computer cold? It left its windows open.",
        "Why is six afraid of seven? Because seven ate nine.",
        "What kind of tree fits in your hand? A palm tree.")),
    Row("tell me a riddle | give me a riddle | riddle please | do you know a riddle", (
        "What has hands but cannot clap? A clock.",
        "What gets wet while it dries? A towel.",
        "What has keys but opens no door? A piano.",
        "What has a neck but no head? A bottle.")),
    Row("tell me a fun fact | fun fact please | give me a fun fact | do you know a fun fact", (
        "Honey can stay good for a very long time.",
        "An octopus has three hearts.",
        "A day on Venus is longer than its year.",
        "Bananas are berries, but strawberries are not.",
        "Sharks are older than trees.")),
    Row("name an animal | tell me an animal | give me an animal | say the name of an animal",
        ("Cat.", "Dog.", "Horse.", "Cow.", "Bird.")),
    Row("name a colour | tell me a colour | give me a colour | name a color", ("Red.", "Blue.", "Green.", "Yellow.", "White.")),
    Row("name a fruit | tell me a fruit | give me a fruit", ("Apple.", "Banana.", "Orange.", "Pear.", "Plum.")),
    Row("name a vegetable | tell me a vegetable | give me a vegetable", ("Carrot.", "Potato.", "Onion.", "Pea.", "Cabbage.")),
    Row("name a planet | tell me a planet | give me the name of a planet", ("Mercury.", "Venus.", "Earth.", "Mars.", "Jupiter.")),
    Row("name a country | tell me a country | give me a country", ("France.", "Japan.", "Brazil.", "Egypt.", "Canada.")),
    Row("name a city | tell me a city | give me a city", ("Paris.", "London.", "Tokyo.", "Rome.", "Cairo.")),
    Row("name a programming language | tell me a programming language", ("Go.", "Python.", "C.", "Rust.", "JavaScript.")),
    Row("name a metal | tell me a metal", ("Iron.", "Gold.", "Silver.", "Copper.", "Tin.")),
    Row("name a bird | tell me a bird", ("Owl.", "Duck.", "Eagle.", "Penguin.", "Swan.")),
    Row("name a tree | tell me a tree | name a kind of tree", ("Oak.", "Pine.", "Birch.", "Maple.", "Willow.")),
    Row("name a flower | tell me a flower", ("Rose.", "Tulip.", "Lily.", "Daisy.", "Sunflower.")),
    Row("give me a tip | give me some advice | tell me a tip for today | advice please", (
        "Drink a glass of water and take a short walk.",
        "Do the most important task first.",
        "Put your phone away for one hour.",
        "Call a friend you have not seen for a long time.")),
)

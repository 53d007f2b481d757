"""Lists that the model tells always in the same order: one item at a time, or several at once."""

from dataclasses import dataclass

from .speech import first_upper


@dataclass(frozen=True)
class Row:
    """One list: how a user asks for the first item (ask), the items as answers, and their name in the plural (many). many is empty if
    nobody asks for several items at once."""

    ask: str
    items: tuple[str, ...]
    many: str = ""
    names: tuple[str, ...] = ()  # the items as they stand inside a sentence


def _named(one: str, many: str, items: str) -> Row:
    """A row of names, such as animals."""
    return Row(f"name {one} | tell me {one} | give me {one} | say the name of {one} | give me the name of {one} | name me {one} | "
               f"i need {one}, any will do | think of {one} | give me an example of {one} | pick {one} | choose {one} for me | "
               f"what is an example of {one} | which {one.split(' ', 1)[1]} comes to your mind? | can you think of {one}? | "
               f"do you know {one}? name it. | name any {one.split(' ', 1)[1]} | one of the {many}, please | for a game i need {one} | "
               f"we play a game, and i need {one}. which one? | mention {one} | just one of all the {many}",
               tuple(f"{first_upper(item)}." for item in items.split()), many, tuple(items.split()))


ROWS: tuple[Row, ...] = (
    Row("tell me a joke | joke please | do you know a joke | make me laugh | can you tell me a joke? | i want to hear a joke | "
        ""
        "i need something to laugh about | got a joke for me? | a joke would be nice now | "
        "cheer me up with a joke | let me hear a joke | time for a joke", (
        "Why did the bicycle fall over? It was two tired.",
        "What do you call a bear with no teeth? A gummy bear.",
        "Why was the computer cold? It left its windows open.",
        "Why is six afraid of seven? Because seven ate nine.",
        "What kind of tree fits in your hand? A palm tree.")),
    Row("tell me a riddle | give me a riddle | riddle please | do you know a riddle | i want a riddle | ask me a riddle | got a riddle? | "
        "let me hear a riddle | can i have a riddle? | i am bored, give me a riddle. | a riddle for me and my friends, please | "
        "i like riddles, tell me one.", (
        "What has hands but cannot clap? A clock.",
        "What gets wet while it dries? A towel.",
        "What has keys but opens no door? A piano.",
        "What has a neck but no head? A bottle.")),
    Row("tell me a fun fact | fun fact please | give me a fun fact | do you know a fun fact | "
        "tell me something that i do not know | surprise me "
        "with a fact | i want to learn a fun fact | share a fun fact | what is a fun fact | amaze me with a fun fact | "
        "teach me a fun fact", (
        "Honey can stay good for a very long time.",
        "An octopus has three hearts.",
        "A day on Venus is longer than its year.",
        "Bananas are berries, but strawberries are not.",
        "Sharks are older than trees.")),
    _named("an animal", "animals", "cat dog horse cow bird"),
    _named("a colour", "colours", "red blue green yellow white"),
    _named("a fruit", "fruits", "apple banana orange pear plum"),
    _named("a vegetable", "vegetables", "carrot potato onion pea cabbage"),
    _named("a planet", "planets", "Mercury Venus Earth Mars Jupiter"),
    _named("a country", "countries", "France Japan Brazil Egypt Canada"),
    _named("a city", "cities", "Paris London Tokyo Rome Cairo"),
    _named("a programming language", "programming languages", "Go Python C Rust JavaScript"),
    _named("a metal", "metals", "iron gold silver copper tin"),
    _named("a bird", "birds", "owl duck eagle penguin swan"),
    _named("a tree", "trees", "oak pine birch maple willow"),
    _named("a flower", "flowers", "rose tulip lily daisy sunflower"),
    _named("a drink", "drinks", "water tea coffee milk juice"),
    _named("a job", "jobs", "teacher doctor baker farmer programmer"),
    _named("a shape", "shapes", "circle square triangle star heart"),
    _named("a toy", "toys", "ball doll kite puzzle train"),
    _named("a food", "foods", "bread rice pasta soup cheese"),
    Row("give me a tip | give me some advice | tell me a tip for today | advice please | do you have a tip for me | any tip for today | "
        "i could use some advice | what would you advise me today? | what should i do today? give me a tip.", (
        "Drink a glass of water and take a short walk.",
        "Do the most important task first.",
        "Put your phone away for one hour.",
        "Call a friend you have not seen for a long time.")),
)

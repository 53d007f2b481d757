"""Small tables of facts. An answer tells one entry in one short sentence, so the model can learn all of them."""

# country: (capital, continent, language, currency)
COUNTRIES: dict[str, tuple[str, str, str, str]] = {
    "France": ("Paris", "Europe", "French", "the euro"),
    "Germany": ("Berlin", "Europe", "German", "the euro"),
    "Italy": ("Rome", "Europe", "Italian", "the euro"),
    "Spain": ("Madrid", "Europe", "Spanish", "the euro"),
    "Portugal": ("Lisbon", "Europe", "Portuguese", "the euro"),
    "the United Kingdom": ("London", "Europe", "English", "the pound"),
    "Ireland": ("Dublin", "Europe", "English and Irish", "the euro"),
    "the Netherlands": ("Amsterdam", "Europe", "Dutch", "the euro"),
    "Belgium": ("Brussels", "Europe", "Dutch, French and German", "the euro"),
    "Switzerland": ("Bern", "Europe", "German, French and Italian", "the franc"),
    "Austria": ("Vienna", "Europe", "German", "the euro"),
    "Poland": ("Warsaw", "Europe", "Polish", "the zloty"),
    "Sweden": ("Stockholm", "Europe", "Swedish", "the krona"),
    "Norway": ("Oslo", "Europe", "Norwegian", "the krone"),
    "Finland": ("Helsinki", "Europe", "Finnish and Swedish", "the euro"),
    "Denmark": ("Copenhagen", "Europe", "Danish", "the krone"),
    "Iceland": ("Reykjavik", "Europe", "Icelandic", "the krona"),
    "Greece": ("Athens", "Europe", "Greek", "the euro"),
    "Turkey": ("Ankara", "Asia and Europe", "Turkish", "the lira"),
    "Hungary": ("Budapest", "Europe", "Hungarian", "the forint"),
    "the Czech Republic": ("Prague", "Europe", "Czech", "the koruna"),
    "Romania": ("Bucharest", "Europe", "Romanian", "the leu"),
    "Ukraine": ("Kyiv", "Europe", "Ukrainian", "the hryvnia"),
    "Russia": ("Moscow", "Europe and Asia", "Russian", "the ruble"),
    "Egypt": ("Cairo", "Africa", "Arabic", "the pound"),
    "Kenya": ("Nairobi", "Africa", "Swahili and English", "the shilling"),
    "Nigeria": ("Abuja", "Africa", "English", "the naira"),
    "Morocco": ("Rabat", "Africa", "Arabic", "the dirham"),
    "Ethiopia": ("Addis Ababa", "Africa", "Amharic", "the birr"),
    "India": ("New Delhi", "Asia", "Hindi and English", "the rupee"),
    "China": ("Beijing", "Asia", "Chinese", "the yuan"),
    "Japan": ("Tokyo", "Asia", "Japanese", "the yen"),
    "South Korea": ("Seoul", "Asia", "Korean", "the won"),
    "Thailand": ("Bangkok", "Asia", "Thai", "the baht"),
    "Vietnam": ("Hanoi", "Asia", "Vietnamese", "the dong"),
    "Indonesia": ("Jakarta", "Asia", "Indonesian", "the rupiah"),
    "Nepal": ("Kathmandu", "Asia", "Nepali", "the rupee"),
    "Australia": ("Canberra", "Australia", "English", "the dollar"),
    "New Zealand": ("Wellington", "Oceania", "English and Maori", "the dollar"),
    "Canada": ("Ottawa", "North America", "English and French", "the dollar"),
    "the United States": ("Washington, D.C.", "North America", "English", "the dollar"),
    "Mexico": ("Mexico City", "North America", "Spanish", "the peso"),
    "Cuba": ("Havana", "North America", "Spanish", "the peso"),
    "Brazil": ("Brasilia", "South America", "Portuguese", "the real"),
    "Argentina": ("Buenos Aires", "South America", "Spanish", "the peso"),
    "Chile": ("Santiago", "South America", "Spanish", "the peso"),
    "Peru": ("Lima", "South America", "Spanish", "the sol"),
    "Colombia": ("Bogota", "South America", "Spanish", "the peso"),
}
COUNTRY_SHORT: dict[str, str] = {"the United Kingdom": "England", "the United States": "the USA",
                                 "the Netherlands": "Holland"}

# animal: (sound, young, number of legs); the sound is empty where there is no common word
ANIMALS: dict[str, tuple[str, str, int]] = {
    "cat": ("meow", "kitten", 4), "dog": ("woof", "puppy", 4), "cow": ("moo", "calf", 4),
    "sheep": ("baa", "lamb", 4), "horse": ("neigh", "foal", 4), "pig": ("oink", "piglet", 4),
    "goat": ("meh", "kid", 4), "duck": ("quack", "duckling", 2), "hen": ("cluck", "chick", 2),
    "goose": ("honk", "gosling", 2), "frog": ("croak", "tadpole", 4), "lion": ("roar", "cub", 4),
    "bear": ("growl", "cub", 4), "wolf": ("howl", "pup", 4), "mouse": ("squeak", "pup", 4),
    "bee": ("buzz", "larva", 6), "owl": ("hoot", "owlet", 2), "snake": ("hiss", "snakelet", 0),
    "donkey": ("hee-haw", "foal", 4), "elephant": ("trumpet", "calf", 4), "spider": ("", "spiderling", 8),
    "ant": ("", "larva", 6), "fly": ("buzz", "maggot", 6), "butterfly": ("", "caterpillar", 6),
    "deer": ("", "fawn", 4), "swan": ("", "cygnet", 2),
    "rabbit": ("", "kit", 4), "fish": ("", "fry", 0), "eagle": ("screech", "eaglet", 2),
    "tiger": ("roar", "cub", 4), "fox": ("bark", "cub", 4), "penguin": ("", "chick", 2),
}

# animal: where it lives
HOMES: dict[str, str] = {
    "cat": "with people", "dog": "with people", "cow": "on a farm", "sheep": "on a farm", "horse": "on a farm", "pig": "on a farm",
    "goat": "on a farm", "hen": "on a farm", "goose": "on a farm", "donkey": "on a farm", "duck": "at a lake", "swan": "on a lake",
    "frog": "at a pond", "lion": "in Africa", "elephant": "in Africa", "tiger": "in Asia", "bear": "in the forest",
    "wolf": "in the forest", "deer": "in the forest", "fox": "in the forest", "mouse": "in a hole", "bee": "in a hive",
    "owl": "in a tree", "snake": "in the grass", "spider": "in a web", "ant": "in an anthill", "butterfly": "in the meadow",
    "rabbit": "in a burrow", "fish": "in water", "eagle": "in the mountains", "penguin": "in the far south", "fly": "near people",
}

COLOURS: dict[str, str] = {
    "grass": "green", "snow": "white", "the sky": "blue", "a banana": "yellow", "blood": "red",
    "coal": "black", "a carrot": "orange", "milk": "white", "a lemon": "yellow", "the sea": "blue",
    "a tomato": "red", "chocolate": "brown", "a leaf": "green", "a strawberry": "red", "an orange": "orange",
    "a raven": "black", "a flamingo": "pink", "an elephant": "grey", "the sun": "yellow", "gold": "yellow",
    "a cucumber": "green", "a violet": "purple", "soil": "brown", "a polar bear": "white", "a plum": "purple",
}

OPPOSITES: dict[str, str] = {}
for _a, _b in (pair.split("/") for pair in (
        "hot/cold big/small fast/slow up/down day/night good/bad happy/sad old/young light/dark open/closed "
        "rich/poor long/short hard/soft full/empty wet/dry left/right early/late loud/quiet strong/weak "
        "black/white yes/no start/end love/hate clean/dirty high/low inside/outside friend/enemy win/lose "
        "buy/sell push/pull thick/thin near/far first/last true/false wide/narrow "
        "summer/winter north/south east/west arrive/leave remember/forget always/never above/below "
        "before/after give/take question/answer war/peace deep/shallow brave/afraid easy/difficult "
        "cheap/expensive laugh/cry begin/finish more/less sweet/bitter safe/dangerous clever/stupid "
        "polite/rude lazy/busy sharp/blunt smooth/rough accept/reject").split()):
    OPPOSITES[_a], OPPOSITES[_b] = _b, _a
OPPOSITES["heavy"] = "light"

PLURALS: dict[str, str] = dict(pair.split("/") for pair in (
    "cat/cats dog/dogs mouse/mice child/children man/men woman/women foot/feet tooth/teeth goose/geese "
    "sheep/sheep fish/fish box/boxes bus/buses glass/glasses city/cities baby/babies leaf/leaves knife/knives "
    "wolf/wolves life/lives tomato/tomatoes potato/potatoes hero/heroes book/books tree/trees house/houses "
    "apple/apples car/cars girl/girls boy/boys day/days key/keys party/parties story/stories person/people "
    "ox/oxen half/halves shelf/shelves watch/watches dish/dishes friend/friends flower/flowers bird/birds "
    "lady/ladies country/countries fly/flies wife/wives loaf/loaves table/tables window/windows").split())

PAST: dict[str, str] = dict(pair.split("/") for pair in (
    "go/went see/saw eat/ate drink/drank run/ran swim/swam write/wrote read/read speak/spoke take/took "
    "give/gave come/came know/knew think/thought buy/bought bring/brought sing/sang sleep/slept find/found "
    "make/made say/said tell/told begin/began break/broke drive/drove fly/flew fall/fell walk/walked "
    "play/played work/worked help/helped look/looked ask/asked open/opened stop/stopped").split())

RHYMES: dict[str, str] = {
    "cat": "hat, bat and mat", "dog": "fog, log and frog", "house": "mouse and spouse",
    "tree": "bee, sea and three", "sun": "fun, run and one", "moon": "soon, spoon and June",
    "day": "way, play and say", "night": "light, right and bright", "book": "look, cook and hook",
    "cake": "lake, make and snake", "rain": "train, chain and plane", "star": "car, far and bar",
    "king": "ring, sing and wing", "blue": "you, true and shoe", "red": "bed, head and bread",
    "ball": "fall, wall and tall", "boat": "goat, coat and note", "heart": "art, part and start",
    "time": "rhyme, lime and climb", "code": "road, load and mode", "bear": "chair, hair and pear",
    "snow": "go, know and show",
}

DAYS: list[str] = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS: list[str] = ("January February March April May June July August September October November "
                     "December").split()
MONTH_DAYS: list[int] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
SEASONS: list[str] = "spring summer autumn winter".split()
PLANETS: list[str] = "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split()
ORDINALS: list[str] = ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
                       "twelfth").split()
ELEMENTS: dict[str, str] = {
    "hydrogen": "H", "helium": "He", "carbon": "C", "nitrogen": "N", "oxygen": "O", "sodium": "Na",
    "iron": "Fe", "gold": "Au", "silver": "Ag", "copper": "Cu", "lead": "Pb", "tin": "Sn", "zinc": "Zn",
    "calcium": "Ca", "chlorine": "Cl", "neon": "Ne", "sulfur": "S", "potassium": "K", "mercury": "Hg",
    "aluminium": "Al", "silicon": "Si", "uranium": "U",
}
FORMULAS: dict[str, str] = {"water": "H2O", "carbon dioxide": "CO2", "salt": "NaCl", "oxygen gas": "O2",
                            "methane": "CH4", "ammonia": "NH3"}
AUTHORS: dict[str, str] = {
    "Hamlet": "William Shakespeare", "Macbeth": "William Shakespeare",
    "Faust": "Johann Wolfgang von Goethe", "Don Quixote": "Miguel de Cervantes", "War and Peace": "Leo Tolstoy",
    "Anna Karenina": "Leo Tolstoy", "Pride and Prejudice": "Jane Austen", "Emma": "Jane Austen",
    "Oliver Twist": "Charles Dickens", "A Christmas Carol": "Charles Dickens", "Frankenstein": "Mary Shelley",
    "Dracula": "Bram Stoker", "Moby Dick": "Herman Melville", "Tom Sawyer": "Mark Twain",
    "The Odyssey": "Homer", "The Divine Comedy": "Dante", "Treasure Island": "Robert Louis Stevenson",
    "Alice in Wonderland": "Lewis Carroll", "The Time Machine": "H. G. Wells", "Peter Pan": "J. M. Barrie",
    "The Jungle Book": "Rudyard Kipling", "1984": "George Orwell", "Animal Farm": "George Orwell",
    "The Hobbit": "J. R. R. Tolkien", "Harry Potter": "J. K. Rowling",
    "The Little Prince": "Antoine de Saint-Exupery", "Pinocchio": "Carlo Collodi",
}
# from small to big, for "is a whale bigger than a mouse"
SIZES: list[str] = ("ant bee mouse frog cat dog sheep lion horse elephant whale").split()

NAMES: list[str] = (
    "Anna Tom Maria Ben Lucy Peter Sofia Max Emma Paul Nina David Sara Leo Julia Mark Lena Oscar Clara Felix "
    "Alice Bob Carol Dan Eva Frank Grace Henry Iris Jack Kate Liam Mia Noah Olivia Robert Rosa Sam Tina Victor "
    "Yusuf Aisha Omar Fatima Kenji Yuki Wei Mei Raj Priya Ivan Olga Diego Carmen Pedro Lucia Ahmed Zara Hugo "
    "Ines Jonas Karin Lars Marta Nils Petra Ruth Simon Thea Ulla Walter Xenia Zoe Aaron Bella Cyrus Dora Elias "
    "Flora Gus Hanna Igor Jasmine Kofi Lola Milo Nora Otto Pia Quinn Rita Stefan Tara Uma Vera Wendy Amara "
    "Chen Dmitri Eleni Farid Gita Hiro Isla Jorge Kiran Layla Mateo Nadia Owen Paula Rhea Sven Tariq Viktor").split()
PET_NAMES: list[str] = ("Rex Luna Bella Mimi Rocky Daisy Coco Buddy Felix Milo Nala Simba Oreo Pepper Ginger Toffee "
                        "Pixel Biscuit Shadow Snowy").split()
CITIES: list[str] = sorted({row[0] for row in COUNTRIES.values()} | set(
    "Hamburg Munich Milan Naples Venice Barcelona Seville Porto Lyon Geneva Zurich Krakow Boston Chicago "
    "Seattle Toronto Vancouver Sydney Melbourne Mumbai Osaka Kyoto Istanbul Lagos Casablanca Glasgow Leeds "
    "Bristol Oxford Dresden Leipzig Antwerp Bergen Tampere Graz Basel".split()))
COLOUR_NAMES: list[str] = ("red blue green yellow black white orange purple pink brown grey silver gold violet "
                           "turquoise").split()
FOODS: list[str] = ("pizza pasta rice soup bread cheese chocolate salad cake curry sushi tacos pancakes apples "
                    "noodles potatoes ice-cream honey olives mango porridge dumplings").split()
JOBS: list[str] = ("teacher doctor baker farmer programmer nurse painter cook pilot driver gardener singer lawyer "
                   "dentist carpenter plumber writer student waiter librarian electrician tailor").split()
DRINKS: list[str] = "water tea coffee milk juice cocoa lemonade cola".split()
FRUITS: list[str] = "apple pear plum cherry mango grape melon banana orange lemon peach strawberry".split()
GAMES: list[str] = "chess football tennis cards dominoes golf hockey poker basketball checkers bingo tag darts".split()
HOBBIES: list[str] = ("painting reading cooking gardening fishing hiking singing dancing knitting swimming running sailing "
                      "photography pottery climbing cycling").split()
INSTRUMENTS: list[str] = "piano violin flute guitar drums trumpet cello harp clarinet banjo".split()
THINGS: list[str] = ("apples pears eggs books pens coins balls cups stones cards cookies stars keys boxes shirts "
                     ).split()
OBJECTS: list[str] = ("key book ball phone cup lamp hat coin ring map pen letter spoon ticket bag shoe clock knife "
                      "toy candle").split()
PLACES: list[str] = ("box drawer kitchen garden car basket cupboard pocket bedroom fridge cellar attic tent bag "
                     "garage office").split()
SPELLABLE: list[str] = (
    "cat dog sun moon star tree book fish bird milk rain snow wind fire gold blue green red house mouse horse "
    "apple bread water table chair light night day king queen ship boat road cake door hand foot head eye ear "
    "nose lamp ball frog bear wolf lion tiger zebra owl bee ant cow pig hen duck rice soup salt tea cup pen "
    "paper stone river lake sea hill city time year month week hello friend school family summer winter orange "
    "animal happy small large music dance sleep dream smile heart bridge train plane garden flower window clock "
    "lemon melon grape peach honey sugar butter cheese because beautiful computer people language tomorrow "
    "weather different machine Wednesday February necessary terminal chocolate").split()

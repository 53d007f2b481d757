"""Honest short refusals, for what the model cannot know or do. One that names a subject copies it from the question."""

import random

from .copying import invented
from .numbers import typed
from .speech import Chat, exchange, first_upper, wording
from .tables import AUTHORS, CITIES, NAMES, ORDINALS

NO_CLOCK = "I cannot know that: I have no clock and no network."
PRIVATE = "I do not know that. I only see what you type here."
FUTURE = "I cannot know the future. Nobody can."
NO_DEEDS = "I cannot do that. I can only write text in this chat."
NO_DOCTOR = "I am not a doctor, and I am only a tiny model. Please ask a real doctor."

# Specialised subjects. None of them is a topic of text/general or of the program itself.
SUBJECTS: tuple[str, ...] = tuple(s.strip() for s in """
general relativity, special relativity, quantum mechanics, string theory, quantum field theory, the standard model,
dark matter, dark energy, thermodynamics, fluid dynamics, superconductivity, nuclear fusion, the Higgs boson,
quantum entanglement, plasma physics, optics, electromagnetism, semiconductors, the doppler effect, wave mechanics,
mitochondria, ribosomes, enzymes, meiosis, mitosis, evolution by natural selection, the krebs cycle, epigenetics,
the immune system, antibodies, the nervous system, hormones, insulin, stem cells, genome editing, virology, bacteria,
fungi, taxonomy, ecology of coral reefs, plate tectonics, glaciology, mineralogy, the water table, soil chemistry,
organic chemistry, catalysis, polymers, electrolysis, redox reactions, the periodic table, chromatography, isotopes,
crystallography, calculus, differential equations, linear algebra, topology, group theory, number theory, category theory,
the riemann hypothesis, fourier analysis, bayesian statistics, game theory, graph theory, set theory, complex numbers,
the central limit theorem, eigenvalues, fractals, chaos theory, trigonometry, logarithms, cryptanalysis, knot theory,
Kant, Hegel, Nietzsche, Plato, Aristotle, Socrates, Descartes, Spinoza, Wittgenstein, Confucius, existentialism,
stoicism, utilitarianism, phenomenology, epistemology, metaphysics, ethics of war, the categorical imperative,
tax law, contract law, patent law, copyright law, criminal law, maritime law, the constitution, human rights treaties,
inheritance tax, value added tax, income tax, corporate law, labour law, data protection law, the supreme court,
macroeconomics, microeconomics, inflation, interest rates, the gold standard, monetary policy, hedge funds, derivatives,
options trading, venture capital, mortgages, bankruptcy, double entry accounting, supply chains, game shows, pension funds,
the french revolution, the cold war, the russian revolution, the ottoman empire, the ming dynasty, the aztecs, the incas,
the maya, the vikings in england, the crusades, the black death, the hundred years war, the thirty years war,
the industrial revolution, the american civil war, the great depression, colonialism, the silk road, the byzantine empire,
the renaissance in florence, the treaty of versailles, the league of nations, feudalism, the peloponnesian war,
the punic wars, the congress of vienna, the boxer rebellion, the suez crisis, apartheid, Napoleon, Julius Caesar,
Cleopatra, Genghis Khan, Alexander the Great, Charlemagne, Joan of Arc, Catherine the Great, Marie Curie, Nikola Tesla,
Charles Darwin, Galileo, Kepler, Gauss, Euler, Archimedes, Sigmund Freud, Carl Jung, Karl Marx, Adam Smith, Gandhi,
Nelson Mandela, Abraham Lincoln, George Washington, Winston Churchill, Marco Polo, Magellan, Captain Cook, Picasso,
Van Gogh, Rembrandt, Michelangelo, Monet, Salvador Dali, Frida Kahlo, Vivaldi, Chopin, Wagner, Debussy, Stravinsky,
Kafka, Dostoevsky, Proust, James Joyce, Virginia Woolf, Borges, Thomas Mann, Goethe's poems, Virgil, Ovid,
impressionism, cubism, surrealism, baroque music, jazz harmony, opera, counterpoint, the blues, flamenco, ballet,
gothic architecture, film noir, haiku, iambic pentameter, literary theory, structuralism, semiotics, linguistics,
phonology, syntax trees, sanskrit, old norse, esperanto, hieroglyphs, cuneiform, buddhism, hinduism, islam, judaism,
christianity, taoism, shinto, zoroastrianism, the reformation, canon law, psychoanalysis, behaviourism, cognitive bias,
anthropology, sociology, archaeology, numismatics, heraldry, genealogy, astrology, tarot, numerology, homeopathy,
acupuncture, chemotherapy, diabetes, asthma, malaria, tuberculosis, alzheimer's disease, vaccines, antibiotics,
blood pressure, cholesterol, anaesthesia, radiology, heart surgery, orthodontics, physiotherapy, epidemiology,
cricket rules, rugby rules, ice hockey, formula one, the davis cup, the olympic games, the tour de france, golf handicaps,
baseball statistics, sumo, curling, fencing, polo, snooker, go strategy, the sicilian defence, poker odds, bridge bidding,
jet engines, rocket fuel, suspension bridges, steam turbines, diesel engines, hydraulics, robotics kinematics, concrete,
welding, metallurgy, carbon fibre, nuclear reactors, solar cells, wind turbines, batteries, transformers in power grids,
telephone exchanges, radar, sonar, lidar, satellites, the space shuttle, the hubble telescope, exoplanets, neutron stars,
quasars, pulsars, supernovas, the big bang, cosmic rays, the kuiper belt, comets, asteroids, gravitational waves,
blockchain, bitcoin mining, kubernetes, docker networking, haskell monads, prolog, fortran, cobol, erlang, lisp macros,
quantum computing, compilers for vector machines, distributed consensus, raft, paxos, tcp congestion control, bgp,
public key infrastructure, zero knowledge proofs, garbage collectors, lock free queues, b-trees, red black trees,
operating system schedulers, file system journals, relational algebra, database sharding, event sourcing, web assembly,
sourdough hydration, molecular gastronomy, wine tasting, cheese ripening, coffee roasting, brewing beer, sushi knives,
bonsai, hydroponics, beekeeping, horse breeding, falconry, taxidermy, origami mathematics, calligraphy, pottery glazes,
glass blowing, knitting patterns, sailing knots, mountaineering, scuba diving, hang gliding, cave exploration
""".replace("\n", " ").split(","))

_ASK = (
    "explain {x} | what is {x} | tell me about {x} | what do you know about {x} | explain {x} to me | do you know anything about {x} | "
    "describe {x} | how does {x} work | teach me {x} | explain {x} in simple words | tell me something about {x} | "
    "give me a summary of {x} | "
    "i want to learn about {x} | what can you tell me about {x} | help me understand {x} | {x}, what is that? | write about {x} | "
    "explain {x} like i am five | could you tell me more about {x}? | what exactly is {x} | who or what is {x} | "
    "what is the main idea of {x} | why is {x} important | give me an introduction to {x} | {x}? | what does {x} mean | "
    "i read about {x} and did not understand it. can you help? | my teacher talked about {x}. what is it? | i have a test about {x} | "
    "have you heard of {x} | are you familiar with {x} | what should i know about {x} | say a few words about {x} | "
    "i am curious about {x} | the topic is {x}. what can you say? | who can explain {x} to me? can you? | write a short text about {x} | "
    "what is so special about {x} | where does {x} come from | when was {x} discovered | who invented {x} | how important is {x} | "
    "give me three facts about {x} | list some facts about {x} | what are the key points of {x} | summarise {x} for me | "
    "how would you define {x} | a definition of {x}, please | i wonder what {x} is | someone mentioned {x} today. what is meant? | "
    "what do experts say about {x} | let us talk about {x} | do you have any knowledge of {x} | is {x} something you know about | "
    "i need information about {x} | can i ask you about {x}? | i do not understand {x} | what is known about {x} | "
    "for school i must write about {x}. what should i write? | everybody talks about {x}. why? | how would you explain {x} to a child | "
    "give me a lecture on {x} | are there good examples of {x} | what happened with {x} | is it hard to understand {x}")
_AND_THEN = ("and {x} | what about {x} | then explain {x} | and what is {x} | do you know {x} instead? | maybe {x}? | how about {x} | "
             "and do you know about {x}? | ok, then {x} | try {x} | then tell me about {x}")
_BOOK_PARTS = ("chapter {n} of {b}", "the {o} chapter of {b}", "page {p} of {b}", "the {o} page of {b}", "the last chapter of {b}",
               "the first sentence of {b}", "the {o} part of {b}", "the ending of {b}")
_ASK_BOOK = ("what happens in {x} | what is {x} about | summarise {x} | tell me what happens in {x} | what is written in {x} | quote {x} | "
             "who appears in {x} | tell me the plot of {x} | what does the hero do in {x} | what do you know about {x} | recite {x} | "
             "i did not read {x}. what happens there? | what can i read in {x} | give me a summary of {x} | how does {x} go | "
             "explain {x} | "
             "what is the most important thing in {x} | can you tell me about {x}? | do you remember {x} | "
             "i need {x} for school. what is in it?")
_MADE_UP = ("the {w} theorem", "the {w} effect", "{w}", "{w} disease", "the battle of {w}", "the {w} dynasty", "{w} theory",
            "the treaty of {w}", "the {w} protocol", "professor {w}", "the kingdom of {w}", "the {w} engine", "{n} {w}",
            "{w} syndrome", "the {w} equation", "the {w} river", "{w} philosophy", "the {w} project", "the city of {w}")
_PLAIN = ("the history of {x}", "the future of {x}", "the basics of {x}", "the critics of {x}", "the role of {x} in society",
          "the origins of {x}", "modern {x}", "the economics of {x}")
_AILMENTS = ("a cold", "the flu", "back pain", "a rash", "fever", "high blood pressure", "migraine", "stomach pain",
             "a sore throat", "a cough", "allergies", "a broken arm", "an infection", "insomnia", "toothache", "diabetes")
_TREATMENT = (
    "what medicine should i take for {x} | which pills help with {x} | how do i treat {x} | what should i take against {x} | "
    "can you give me medical advice for {x}? | what helps against {x} | which drug is best for {x} | is {x} dangerous | "
    "i have {x}, what should i take? | my child has {x}. which medicine is right? | how much medicine do i need for {x} | "
    "can i cure {x} at home? | what would a doctor give me for {x} | do i need antibiotics for {x} | i suffer from {x}. what can i take? | "
    "should i worry about {x} | which tablets are good for {x} | how many pills should i take for {x} | {x}: which treatment is best? | "
    "i think i have {x}. what is the cure? | prescribe something for {x} | is there a pill against {x} | how dangerous is {x}")
_TEAMS = ("Lions", "Tigers", "United", "Rovers", "City", "Sharks", "Eagles", "Rangers", "Dynamo", "Wolves")
_COMPANIES = ("Apple", "Google", "Tesla", "Nvidia", "Toyota", "Siemens", "Amazon", "Intel", "Sony", "Shell")
_GOODS = ("bread", "milk", "gold", "silver", "petrol", "coffee", "a house", "a bus ticket", "a new phone", "rice", "a used car", "butter")
_WHEN = "[tomorrow/tonight/next week/on Sunday/this weekend/tomorrow morning]"
_NOW = "[today/now/right now/at the moment/this week]"

# what changes from day to day; {c} and {o} are cities, {a} and {b} teams, {s} a company, {g} goods, {p} a person
_LIVE: tuple[str, ...] = (
    f"what is the weather in {{c}} | how is the weather in {{c}} {_NOW} | will it rain in {{c}} | is it cold in {{c}} now | "
    f"weather in {{c}} | "
    f"how warm is it in {{c}} | will it [rain/snow/be sunny/be cold/be warm] in {{c}} {_WHEN} | "
    f"what will the weather be like in {{c}} {_WHEN} | "
    f"the forecast for {{c}}, please | what is the forecast for {{c}} | do i need [an umbrella/a coat/sunglasses] in {{c}} {_WHEN} | "
    f"i travel to {{c}} {_WHEN}. what will the weather be? | is there snow in {{c}} {_NOW} | "
    f"how many degrees will it be in {{c}} {_WHEN} | "
    f"tell me the temperature in {{c}} | does the sun shine in {{c}} {_NOW} | is a storm coming to {{c}} | "
    f"should i expect rain in {{c}} {_WHEN}",
    f"what time is it in {{c}} | time in {{c}} | what is the time in {{c}} now | how late is it in {{c}} {_NOW} | "
    f"is it already [dark/night/morning] in {{c}} | "
    f"which day is it in {{c}} | what is today's date in {{c}} | tell me the date of today in {{c}} | "
    f"which date do they have in {{c}} {_NOW} | "
    f"what does the clock in {{c}} say | what day of the week is it in {{c}} {_NOW}",
    f"who won the game between {{c}} {{a}} and {{o}} {{b}} | result of {{c}} {{a}} against {{o}} {{b}} | did {{c}} {{a}} win yesterday | "
    f"what is the score of {{c}} {{a}} | how did {{c}} {{a}} play [yesterday/last night/on Saturday] | "
    f"who scored for {{c}} {{a}} yesterday | "
    f"did {{c}} {{a}} lose against {{o}} {{b}} | which place have {{c}} {{a}} in the league {_NOW} | when do {{c}} {{a}} play next",
    f"what is the price of {{s}} stock | how is {{s}} doing on the stock market | {{s}} share price | is {{s}} stock up today | "
    f"what does one share of {{s}} cost {_NOW} | did {{s}} shares fall {_NOW} | should i buy {{s}} shares {_NOW} | "
    f"how much is {{s}} worth {_NOW} | "
    f"tell me the value of a {{s}} share",
    f"what does {{g}} cost {_NOW} | what is the price of {{g}} {_NOW} | how much is {{g}} {_NOW} | "
    f"how expensive is {{g}} in {{c}} {_NOW} | "
    f"today's price of {{g}}, please | how much do i pay for {{g}} in {{c}} | did the price of {{g}} go up {_NOW} | "
    f"is {{g}} cheap in {{c}} {_NOW} | "
    f"tell me the current price of {{g}} | what do people in {{c}} pay for {{g}} {_NOW}",
    f"what is the news from {{c}} | any news from {{c}} | what happened in {{c}} {_NOW} | what are the headlines in {{c}} {_NOW} | "
    f"did something happen in {{c}} {_NOW} | what is going on in {{c}} {_NOW} | tell me the latest news from {{c}} | "
    f"what do the papers in {{c}} write {_NOW} | "
    f"is there any trouble in {{c}} {_NOW} | i missed the news about {{c}}. what was it? | what is new in {{c}} | "
    f"read me the news of {{c}}",
    f"when does the next train to {{c}} leave | is my flight to {{c}} on time | how much is a ticket to {{c}} | "
    f"is the train from {{c}} to {{o}} late {_NOW} | "
    f"is there a traffic jam in {{c}} {_NOW} | which bus goes to {{c}} {_NOW} | are there free rooms in {{c}} {_WHEN} | "
    f"which shops are open in {{c}} {_NOW} | when does the museum in {{c}} open {_NOW} | "
    f"how long is the queue at the airport of {{c}} {_NOW}",
    f"who is the president now | who is the mayor of {{c}} now | how many people are in {{c}} right now | who leads the country {_NOW} | "
    f"what is the most popular song in {{c}} {_NOW} | what is on television {_NOW} in {{c}} | which film runs in {{c}} {_NOW} | "
    f"who won the election in {{c}} this year",
)
_PRIVATE = (
    "what is the phone number of {p} | {p}'s phone number | give me the phone number of {p} | tell me the number to call {p} | "
    "where does {p} live now | "
    "what is the address of {p} | do you know the address of {p} | what is {p}'s email | what is the password of {p} | "
    "tell me {p}'s password | "
    "how old is my neighbour {p} | what is my neighbour {p} doing | where is {p} right now | what did {p} eat yesterday | is {p} at home | "
    "how much money does {p} have | what does {p} earn | who called me yesterday | what is in my pocket | what did i eat this morning | "
    "what is my bank balance | how much money do i have | what is my password | what is my phone number | "
    "where did i leave my [keys/phone/glasses/wallet] | "
    "what am i wearing | how do i look today | who is standing behind me | what did i dream last night | what is my friend {p} thinking | "
    "does {p} like me | is {p} angry with me | when did {p} come home | what did {p} say about me | who lives next door to me | "
    "what is written in my diary | which [book/letter/picture] lies on my desk | i need the number of {p}. what is it? | "
    "how can i reach {p} by phone? | "
    "what did {p} write to me | what is the name of my neighbour's dog | tell me the birthday of {p} | what is in the letter from {p} | "
    "which secret does {p} have | did {p} pass the test | with whom is {p} married | what does {p} do for work | "
    "who was at my door this morning")
_FUTURE = (
    "will i [be rich/be famous/find a job/get married/win the lottery/pass my test] | what will happen in ten years | "
    "who will win the next [election/war/race] | "
    "will {s} be rich in ten years | will {c} {a} win next year | what will the lottery numbers be | "
    "will my team win on [Saturday/Sunday] | "
    "how will my life be in twenty years | what will i do next year | will there be a war | tell me my future | "
    "what does my future look like | "
    "how old will i become | when will i die | will {p} marry me | what will gold cost next year | which number will the dice show | "
    "will i be happy one day | what will tomorrow bring | look into the future and tell me what you see | "
    "who will be president in ten years | "
    "what will the world be like in a hundred years | how will the story of my life end | will robots be everywhere one day")
_DEEDS = (
    "[call/phone/ring] {p} [for me/please/now] | send [a message/an email/a letter/money] to {p} | "
    "set an alarm for [six/seven/eight/nine] | wake me at [six/seven/eight] | "
    "book [a table/a room/a flight/a taxi] in {c} | order [a pizza/flowers/a taxi/a new phone] for me | buy {g} for me | "
    "remind me [tomorrow/tonight/next week] | "
    "turn [on/off] the [light/radio/television/heating] | open the [door/window/website of {s}] | "
    "look it up on the internet | search the web for {s} | read my emails | pay my bills | cook [dinner/lunch] for me | drive me to {c} | "
    "take a photo of me | print this page | download the newest version of a game | write a message to {p} and send it | feed my cat | "
    "put {g} on my shopping account | start a timer for [five/ten/twenty] minutes | show me a picture of {c} | draw [a house/a cat/a tree]")
def refused(subject: str) -> str:
    """The one sentence of refusal, with the subject as the user wrote it."""
    return f"I do not know about {subject}. I am a tiny model; ask me about speculative decoding or this program."


def subject(rng: random.Random) -> str:
    """A subject outside the model's knowledge: from the list, a part of one, an invented person, or something else invented."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(SUBJECTS)
    if kind < 0.62:
        plain = rng.choice(SUBJECTS).removeprefix("the ")
        return rng.choice(_PLAIN).format(x=plain)
    if kind < 0.72:
        return f"{rng.choice(NAMES)} {first_upper(invented(rng))}"
    word = invented(rng)
    return rng.choice(_MADE_UP).format(w=first_upper(word) if rng.random() < 0.6 else word, n=rng.choice(NAMES))


def unknown(rng: random.Random) -> Chat:
    """A question about a subject that the model does not know. Sometimes one or two more follow."""
    asked = subject(rng)
    chat = exchange(wording(rng, _ASK, x=asked), refused(asked))
    while rng.random() < 0.12 and len(chat) < 6:
        asked = subject(rng)
        chat += exchange(wording(rng, _AND_THEN, x=asked), refused(asked))
    return chat


def book_part(rng: random.Random) -> Chat:
    """A question for what is in a part of a book."""
    part = rng.choice(_BOOK_PARTS).format(n=typed(rng, rng.randint(1, 20)), o=rng.choice(ORDINALS), p=rng.randint(2, 300),
                                          b=rng.choice(list(AUTHORS)))
    return exchange(wording(rng, _ASK_BOOK, x=part), refused(part))


def not_known(rng: random.Random) -> Chat:
    """A question for what changes from day to day, for what is private or for the future, or an order that takes more than text."""
    (city, other), (a, b) = rng.sample(CITIES, 2), rng.sample(_TEAMS, 2)
    kind = rng.random()
    templates, answer = ((rng.choice(_LIVE), NO_CLOCK) if kind < 0.58 else (_PRIVATE, PRIVATE) if kind < 0.78 else
                         (_FUTURE, FUTURE) if kind < 0.88 else (_DEEDS, NO_DEEDS))
    return exchange(wording(rng, templates, c=city, o=other, a=a, b=b, s=rng.choice(_COMPANIES), g=rng.choice(_GOODS),
                            p=rng.choice(NAMES)), answer)


def medical(rng: random.Random) -> Chat:
    """A question for a treatment. The model sends the user to a doctor."""
    return exchange(wording(rng, _TREATMENT, x=rng.choice(_AILMENTS)), NO_DOCTOR)


def refusals(rng: random.Random) -> Chat:
    """One chat whose questions have to be declined."""
    kind = rng.random()
    if kind < 0.48:
        return unknown(rng)
    if kind < 0.56:
        return book_part(rng)
    return not_known(rng) if kind < 0.92 else medical(rng)

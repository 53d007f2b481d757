"""Honest short refusals for what the model cannot know; the subject is copied from the question."""

import random

from .copying import invented
from .speech import Chat, exchange, first_upper, wording
from .tables import CITIES, NAMES

NO_CLOCK = "I cannot know that: I have no clock and no network."
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
cricket rules, rugby rules, ice hockey, formula one, the world cup, the olympic games, the tour de france, golf handicaps,
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

_ASK = ("explain {x} | what is {x} | tell me about {x} | can you explain {x} | what do you know about {x} | "
        "please explain {x} to me | do you know anything about {x} | describe {x} | how does {x} work | teach me {x} | "
        "explain {x} in simple words | tell me something about {x} | give me a summary of {x} | i want to learn about {x} | "
        "what can you tell me about {x} | help me understand {x} | {x}, what is that | write about {x} | "
        "explain {x} like i am five | could you tell me more about {x} | what exactly is {x} | who or what is {x} | "
        "what is the main idea of {x} | why is {x} important | give me an introduction to {x}")
_MADE_UP = ("the {w} theorem", "the {w} effect", "{w}", "{w} disease", "the battle of {w}", "the {w} dynasty", "{w} theory",
            "the treaty of {w}", "the {w} protocol", "professor {w}", "the kingdom of {w}", "the {w} engine", "{n} {w}",
            "{w} syndrome", "the {w} equation", "the {w} river", "{w} philosophy", "the {w} project", "the city of {w}")
_PLAIN = ("the history of {x}", "the future of {x}", "the basics of {x}", "the critics of {x}", "the role of {x} in society",
          "the origins of {x}", "modern {x}", "the economics of {x}")
_AILMENTS = ("a cold", "the flu", "back pain", "a rash", "fever", "high blood pressure", "migraine", "stomach pain",
             "a sore throat", "a cough", "allergies", "a broken arm", "an infection", "insomnia", "toothache", "diabetes")
_TEAMS = ("Lions", "Tigers", "United", "Rovers", "City", "Sharks", "Eagles", "Rangers", "Dynamo", "Wolves")
_COMPANIES = ("Apple", "Google", "Tesla", "Nvidia", "Toyota", "Siemens", "Amazon", "Intel", "Sony", "Shell")


def refused(subject: str) -> str:
    """The canonical refusal, with the subject as the user wrote it."""
    return f"I do not know about {subject}. I am a tiny model; ask me about speculative decoding or this program."


def subject(rng: random.Random) -> str:
    """A subject outside the model's knowledge: from the list, about a person, or invented."""
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
    """One question about such a subject, at times a second."""
    asked = subject(rng)
    chat = exchange(wording(rng, _ASK, x=asked), refused(asked))
    while rng.random() < 0.12 and len(chat) < 6:
        asked = subject(rng)
        chat += exchange(wording(rng, "and {x} | what about {x} | then explain {x} | and what is {x}", x=asked), refused(asked))
    return chat


def not_now(rng: random.Random) -> Chat:
    """The time, the weather, results and prices."""
    city, other = rng.sample(CITIES, 2)
    a, b = rng.sample(_TEAMS, 2)
    question = wording(rng, rng.choice((
        "what is the weather in {c} | how is the weather in {c} today | will it rain in {c} | is it cold in {c} now | "
        "weather in {c} | how warm is it in {c}",
        "what time is it in {c} | time in {c} | what is the time in {c} now",
        "who won the game between {c} {a} and {o} {b} | result of {c} {a} against {o} {b} | did {c} {a} win yesterday | "
        "what is the score of {c} {a}",
        "what is the price of {s} stock | how is {s} doing on the stock market | {s} share price | is {s} stock up today",
        "what is the news from {c} | any news from {c} | what happened in {c} today",
        "when does the next train to {c} leave | is my flight to {c} on time | how much is a ticket to {c}",
        "who is the president now | who is the mayor of {c} now | how many people are in {c} right now",
        "what is today's date in {c} | which day is it in {c}")),
        c=city, o=other, a=a, b=b, s=rng.choice(_COMPANIES))
    return exchange(question, NO_CLOCK)


def medical(rng: random.Random) -> Chat:
    """Medicine is for a doctor."""
    return exchange(wording(rng, "what medicine should i take for {x} | which pills help with {x} | how do i treat {x} | "
                            "what should i take against {x} | can you give me medical advice for {x} | what helps against {x} | "
                            "which drug is best for {x} | is {x} dangerous | i have {x}, what should i take",
                            x=rng.choice(_AILMENTS)), NO_DOCTOR)


def refusals(rng: random.Random) -> Chat:
    """One question that has to be declined."""
    kind = rng.random()
    if kind < 0.74:
        return unknown(rng)
    return not_now(rng) if kind < 0.92 else medical(rng)

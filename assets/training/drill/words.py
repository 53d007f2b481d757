"""Less common but ordinary English words, for texts that the model has to copy and for lists."""

NOUNS: tuple[str, ...] = tuple("""
lantern rope reed plumber anchor apron acorn almond anvil arrow attic awning axle badge badger bagpipe balcony bamboo banister
barge barley barn barrel basil basin beacon beaker beam bellows berry blanket blizzard blossom bolt bonnet boulder bracelet
bramble brick bridle broom broth bucket buckle bugle bundle cabin cable cactus canal canoe canvas cape cargo carriage carving
casket cauldron cavern cellist chalk chapel cherry chimney chisel cinnamon clam clarinet cliff cloak clover cobbler cobweb
cocoon collar comb compass cork cottage courier cradle crane crate crayon creek cricket crown crumb crystal curtain cushion
cymbal dagger dairy dam dandelion dart dew dial ditch dock dome doorbell doorknob dove dragonfly drawbridge dresser drizzle
drum dune dungeon dusk easel echo eel elbow ember envelope fable falcon feather fence fern ferry fiddle fig filter fjord flask
fleet flint flute foam fog footprint forge fork fountain freckle frost funnel furnace gable gallery garlic garnet gate gazelle
gear geyser ginger glacier glove glue gnome goblet gorge granite gravel grove gull gutter hail hammer hammock harbour harp
harvest hatch hawk hay hazel hearth hedge helmet herb hermit heron hinge hive hoof horizon hornet hose icicle igloo inkwell
inn island ivory ivy jacket jar jigsaw jug juggler jungle kayak kennel kernel kettle kiln kite knapsack knight knot lace
ladder ladle lagoon lark latch lattice lava lavender ledge lentil lever lighthouse lilac limestone lizard loaf lobster locket
locust lodge loom lute magnet magpie mallet mantle maple marsh mason mast meadow medal melody mill mirror mitten moat mole
moose mortar mosaic moss moth mural mushroom mussel nail napkin navy nectar needle nest net nettle notebook nutmeg oar oasis
oats oboe orchard orchid otter oven oyster paddle padlock palace pancake panther parade parcel parchment parsley pasture
patch pavement pebble pelican penny pepper perch petal pheasant piano pickle pier pigeon pillar pillow pirate pitcher plank
plaster plough plume pocketknife pollen pond poppy porch porcupine postcard potter pottery prairie puddle pulley pumpkin
puppet quarry quill quilt raccoon radish raft raisin rake raspberry rattle ravine razor recipe reef ribbon riddle rind ripple
robin rocket roof rooster rosemary rudder rug saddle sail salmon sandal sapphire satchel sauce saw saxophone scaffold scarecrow
scarf scissors scribe seaweed seed shawl shed shepherd shield shovel shrimp shrub silk sleigh slipper slope smoke snail
sparrow spice spindle splinter sponge spruce squid squirrel stable staircase statue steam steeple stool stork stove strap
straw stream suitcase sundial swamp swarm sweater syrup tailor tambourine tapestry tar tavern teapot telescope thicket thimble
thistle thorn thread throne thunder tile timber toad tobacco torch tortoise tower tractor trail trapeze treasure trench
trombone trout trowel trumpet trunk tugboat tulip tunnel turbine turnip turtle tweezers twig umbrella urchin urn valley vane
vase vault veil velvet vessel vest village vine vinegar violin volcano vulture waffle wagon walnut walrus warden wardrobe
wasp waterfall weasel weaver wharf wheelbarrow whisker whistle wick willow windmill wolfhound workshop wreath wrench yacht
yarn yeast yolk zebra zipper
""".split())

VERBS: tuple[str, ...] = tuple("""
ripen admire adorn arrange assemble bake balance bark bend blink blossom boil borrow bounce braid brew brush bury carve chase
chew chop chuckle clap climb cling collect crackle crawl creak crumble curl dangle dart dig dip dissolve dive drag drift drip
drum dust embrace examine fade fasten feed fetch flicker float flutter fold gallop gather gleam glide glow grind growl grumble
hammer harvest haul hesitate hide hover hum hunt hurry inspect juggle kneel knit knock ladle launch lean leap lick limp linger
loosen lurk march measure melt mend mumble murmur mutter nibble nod nudge observe oil paddle peel perch pickle plant plough
pluck poke polish pour prune puzzle quarrel quiver rattle rinse ripple roam roast roll rub rust sail scatter scold scrape
scratch scrub sew shiver shovel shriek sift sketch skip slip smear snap sneeze sniff snore soak soar sparkle spill spin
sprout squeak squeeze stack stagger stare steer stir stitch stroll stumble sway sweep swell tangle tap tease thaw tickle
tiptoe topple trace trim tumble twist unfold vanish wade waltz wander weave whisper whistle wilt wink wipe wobble wrap yawn
""".split())

ADJECTIVES: tuple[str, ...] = tuple("""
ancient angular bald barren bitter bleak blunt bold brittle bulky bumpy calm careless chilly clumsy coarse cosy cracked
creamy crisp crooked curious damp dazzling delicate dim dizzy drowsy dull dusty eager eerie elegant enormous faint fancy
feeble fierce flaky foggy forgotten fragile fragrant frosty fuzzy gentle giddy gigantic glossy gloomy graceful greasy grim
grumpy hairy handy harsh hasty hazy hollow humble hungry icy idle jagged jolly keen knotted lanky lavish leafy lively lonely
loyal lukewarm marble massive mellow merry mighty misty modest muddy murky mysterious narrow neat nervous nimble noisy
oblong odd oily oval pale patient peculiar plump pointed polished proud prickly puffy quaint quiet ragged rare reckless
restless ripe robust rosy rotten rough round rugged rusty salty sandy scarlet shabby shady shaggy shallow shiny shy silent
silky sleepy slender slick slim slippery sloppy smoky smooth snug soggy solemn sour sparse speckled spicy spiral splendid
spotless square stale steady steep stern sticky stiff stormy striped stubborn sturdy subtle sudden sunken swift tall tame
tangled tart tattered tender thirsty thorny tidy timid tiny tired towering tricky twisted unripe vague vast velvety vivid
wary weary weathered wicked wild windy wise withered wobbly wooden woolly worn wrinkled yellowish young zealous
""".split())

ADVERBS: tuple[str, ...] = tuple("""
barely boldly bravely briskly calmly carefully cheerfully clumsily daily eagerly elsewhere everywhere firmly gently gladly
gracefully greedily hastily hourly indoors instead kindly lazily loudly merrily nearby neatly nervously nightly often outdoors
patiently politely proudly quietly rarely sadly seldom silently sideways sleepily slowly softly somewhere steadily sternly
suddenly swiftly tenderly together twice upstairs upwards weekly wildly wisely yearly yesterday
""".split())

PREPOSITIONS: tuple[str, ...] = tuple("""
above across against along among around before behind below beneath beside between beyond inside near opposite outside past
through towards under underneath upon within without
""".split())

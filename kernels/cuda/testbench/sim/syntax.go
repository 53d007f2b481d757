package sim

import "strings"

// parameter is a parameter of a kernel. offset is its place among all of them.
type parameter struct {
	name          string
	bytes, offset int
}

// space is the state space that an address points to.
type space byte

const (
	generic space = iota // the address decides
	global
	constantSpace
	sharedSpace
	localSpace
	parameterSpace
)

var spaces = map[string]space{"global": global, "const": constantSpace, "shared": sharedSpace,
	"local": localSpace, "param": parameterSpace}

func (s space) String() string {
	return [...]string{"generic", "global", "constant", "shared", "local", "parameter"}[s]
}

// variable is an array in memory. An external one in shared memory gets the memory that the launch
// asks for.
type variable struct {
	name             string
	space            space
	align            int
	bytes            int
	external         bool
	initial          []byte
	offset           int // in shared or local memory
	line             int
	elementTypeBytes int
}

type register struct {
	name   string
	scalar scalar
	index  int // among the predicates, if it is a predicate
}

// label is a name in a scope of braces.
type label struct {
	scope int
	name  string
}

type operandKind byte

const (
	registerOperand operandKind = iota
	integerOperand
	floatOperand
	specialOperand // %tid.x and others
	symbolOperand  // a parameter, variable or label
	vectorOperand
	addressOperand // elements[0] plus value
	sinkOperand    // _
)

type operand struct {
	kind     operandKind
	text     string
	register int // index of Kernel.registers
	scalar   scalar
	value    uint64
	negated  bool      // !%p
	second   *operand  // of %p|%q
	elements []operand // of a vector or an address
}

// guard makes an instruction depend on a predicate.
type guard struct {
	predicate int
	negated   bool
}

type instruction struct {
	line     int
	scope    int
	guard    *guard
	name     string // mad
	modifier []string
	operands []operand
	text     string // for messages
}

func (in *instruction) fullName() string {
	return strings.Join(append([]string{in.name}, in.modifier...), ".")
}

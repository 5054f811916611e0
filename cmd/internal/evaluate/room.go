package evaluate

import "sync"

// roomBytes is how much garbage is let lie at most before it is collected, when
// little else is live: some five evaluations' of large kernels.
const roomBytes = 32 << 20

// room is memory that is never touched, and so takes none of the machine's. It keeps
// the garbage collector from running after every few evaluations: it runs when the
// heap has doubled since it ran last, and what evaluators keep is a few megabytes,
// which one evaluation of a large kernel leaves behind. The percentage (GOGC) would
// do as well, but of a coordinator's sweeps in the same process, too.
var room = sync.OnceValue(func() []byte { return make([]byte, roomBytes) })

package lower

import (
	"path"
	"strconv"

	"github.com/warptune/warptune/simengine/ptx"
)

// sourceFiles reads the module's .file directives: names by number.
func (mb *moduleBuilder) sourceFiles() {
	for _, it := range mb.src.Items {
		d, ok := it.(*ptx.Directive)
		if !ok || d.Name != ".file" || len(d.Args) < 2 || d.Args[0].Kind != ptx.Int || d.Args[1].Kind != ptx.String {
			continue
		}
		if mb.files == nil {
			mb.files = map[uint64]string{}
		}
		name := d.Args[1].Text
		if path.IsAbs(name) {
			name = path.Base(name)
		}
		mb.files[d.Args[0].Bits] = name
	}
}

// loc notes that the instructions which follow come from another line of the source.
func (b *kernelBuilder) loc(d *ptx.Directive) {
	b.line = ""
	if len(d.Args) < 2 || d.Args[0].Kind != ptx.Int || d.Args[1].Kind != ptx.Int || d.Args[1].Bits == 0 {
		return
	}
	name, known := b.mb.files[d.Args[0].Bits]
	if !known {
		return
	}
	b.line = name + ":" + strconv.FormatUint(d.Args[1].Bits, 10)
}

package ir

// graph is a directed graph with a root, by successor and predecessor lists.
type graph struct {
	root         int
	succs, preds [][]int
}

// dominators gives the immediate dominator of each node, -1 for the root and
// for nodes the root does not reach. Cooper, Harvey and Kennedy, "A Simple,
// Fast Dominance Algorithm" (2001).
func (g *graph) dominators() []int {
	order := g.postorder()
	number := make([]int, len(g.succs))
	idom := make([]int, len(g.succs))
	for i := range idom {
		idom[i], number[i] = -1, -1
	}
	for i, n := range order {
		number[n] = i
	}
	idom[g.root] = g.root
	for changed := true; changed; {
		changed = false
		for i := len(order) - 2; i >= 0; i-- {
			n, best := order[i], -1
			for _, p := range g.preds[n] {
				if number[p] < 0 || idom[p] < 0 {
					continue
				}
				if best < 0 {
					best = p
					continue
				}
				for best != p {
					if number[best] < number[p] {
						best = idom[best]
					} else {
						p = idom[p]
					}
				}
			}
			if idom[n] != best {
				idom[n], changed = best, true
			}
		}
	}
	idom[g.root] = -1
	return idom
}

// postorder lists the nodes the root reaches, children first.
func (g *graph) postorder() []int {
	type visit struct{ node, next int }
	seen := make([]bool, len(g.succs))
	seen[g.root] = true
	order := make([]int, 0, len(g.succs))
	stack := []visit{{g.root, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(g.succs[top.node]) {
			s := g.succs[top.node][top.next]
			top.next++
			if !seen[s] {
				seen[s] = true
				stack = append(stack, visit{s, 0})
			}
			continue
		}
		order = append(order, top.node)
		stack = stack[:len(stack)-1]
	}
	return order
}

// Dominators gives the immediate dominator of each block; -1 for the first
// block and for blocks that cannot be reached.
func (k *Kernel) Dominators() []int {
	g := graph{succs: make([][]int, len(k.Blocks)), preds: make([][]int, len(k.Blocks))}
	for i := range k.Blocks {
		g.succs[i], g.preds[i] = k.Blocks[i].Succs, k.Blocks[i].Preds
	}
	return g.dominators()
}

// postDominators sets IPDom. Lanes that exit do not reconverge, so a path that leaves the kernel early is not
// counted. With several exits the one that most blocks reach is the end, and only paths to it count, except in
// blocks that cannot reach it. Without this a return inside a branch would put the reconvergence of everything
// around it at the end of the kernel.
func (k *Kernel) postDominators() {
	n := len(k.Blocks)
	end := k.mainExit()
	reach := make([]bool, n)
	if end >= 0 {
		k.reaching(end, reach)
	}
	// The graph is reversed: the virtual exit n is the root.
	g := graph{root: n, succs: make([][]int, n+1), preds: make([][]int, n+1)}
	link := func(from, to int) {
		g.succs[to] = append(g.succs[to], from)
		g.preds[from] = append(g.preds[from], to)
	}
	for i := range k.Blocks {
		if i == end || !reach[i] && len(k.Blocks[i].Succs) == 0 {
			link(i, n)
		}
		for _, s := range k.Blocks[i].Succs {
			if reach[i] == reach[s] {
				link(i, s)
			}
		}
	}
	idom := g.dominators()
	for i := range k.Blocks {
		k.Blocks[i].IPDom = idom[i]
		if idom[i] == n {
			k.Blocks[i].IPDom = -1
		}
	}
}

// mainExit is the block without successors that most blocks reach, the last
// of them on a tie; -1 when there is none.
func (k *Kernel) mainExit() int {
	best, most := -1, 0
	for i := range k.Blocks {
		if len(k.Blocks[i].Succs) > 0 {
			continue
		}
		seen := make([]bool, len(k.Blocks))
		if n := k.reaching(i, seen); n >= most {
			best, most = i, n
		}
	}
	return best
}

// reaching marks the blocks that can reach block b and counts them.
func (k *Kernel) reaching(b int, seen []bool) int {
	seen[b] = true
	work, n := []int{b}, 0
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		n++
		for _, p := range k.Blocks[x].Preds {
			if !seen[p] {
				seen[p] = true
				work = append(work, p)
			}
		}
	}
	return n
}

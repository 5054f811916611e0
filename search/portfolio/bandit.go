package portfolio

import "math"

// bandit allocates questions to arms by the area under their curves of success in a sliding window, plus a bonus
// for arms used little of late. The method is of Fialho, Da Costa, Schoenauer and Sebag ("Analyzing bandit-based
// adaptive operator selection mechanisms", 2010); OpenTuner (PACT 2014) uses it.
type bandit struct {
	arms    int
	window  int
	explore float64
	uses    []use // the last window answers, oldest first
}

type use struct {
	arm     int
	success bool
}

// next returns the arm to use, given how many questions of each arm are out.
func (b *bandit) next(out []int) int {
	count := make([]float64, b.arms)
	total := 0.0
	for _, u := range b.uses {
		count[u.arm]++
	}
	for a := range count {
		count[a] += float64(out[a])
		total += count[a]
	}
	best, arm := math.Inf(-1), 0
	for a := range b.arms {
		if count[a] == 0 {
			return a
		}
		if s := b.area(a) + b.explore*math.Sqrt(2*math.Log(total+1)/count[a]); s > best {
			best, arm = s, a
		}
	}
	return arm
}

// area returns the area under the arm's curve, which rises by one at each
// success and else stays level, over the largest that it could be.
func (b *bandit) area(arm int) float64 {
	height, sum, n := 0, 0, 0
	for _, u := range b.uses {
		if u.arm != arm {
			continue
		}
		n++
		if u.success {
			height++
		}
		sum += height
	}
	if n == 0 {
		return 0
	}
	return 2 * float64(sum) / float64(n*(n+1))
}

// used records the answer to a question of an arm.
func (b *bandit) used(arm int, success bool) {
	b.uses = append(b.uses, use{arm, success})
	if len(b.uses) > b.window {
		b.uses = b.uses[1:]
	}
}

// Package usage invents what the node's GPUs are doing, from who holds them.
package usage

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
)

// SpanAnnotation is the pod annotation that sets the utilisation in percent: "40", or "10-30" for a range.
const SpanAnnotation = "run.ai/simulated-gpu-utilization"

// span is a range of utilisation in percent, both ends included.
type span struct{ low, high int }

// busy is what a pod without the annotation does.
var busy = span{80, 100}

func parseSpan(text string) (span, error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	low, lowErr := strconv.Atoi(strings.TrimSpace(from))
	high, highErr := strconv.Atoi(strings.TrimSpace(to))
	if lowErr != nil || highErr != nil || low < 0 || high < low || high > 100 {
		return busy, fmt.Errorf(`annotation %s: found %q, expected percent as "40" or "10-30"`, SpanAnnotation, text)
	}
	return span{low, high}, nil
}

// step is how long a value stays the same.
const step = 10 * time.Second

// at picks a value that changes with time but is the same for all who ask at the same time.
func (s span) at(now time.Time, seed string) int {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s/%d", seed, now.Unix()/int64(step/time.Second))
	return s.low + int(sum.Sum32())%(s.high-s.low+1)
}

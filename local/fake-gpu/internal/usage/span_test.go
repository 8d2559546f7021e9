package usage

import (
	"strings"
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]span{"10-30": {10, 30}, "40": {40, 40}, " 0 - 100 ": {0, 100}, "0": {0, 0}} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "30-10", "-5", "10-", "50-101", "1-2-3"} {
		if _, err := parseSpan(text); err == nil || !strings.Contains(err.Error(), SpanAnnotation) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestAtStaysInsideAndMoves(t *testing.T) {
	s := span{10, 30}
	seen := map[int]bool{}
	for i := range 100 {
		now := time.Unix(int64(i)*10, 0)
		value := s.at(now, "gpu")
		if value < 10 || value > 30 {
			t.Fatalf("got %d", value)
		}
		if value != s.at(now.Add(9*time.Second), "gpu") {
			t.Fatal("two readers at the same time differ")
		}
		seen[value] = true
	}
	if len(seen) < 10 {
		t.Errorf("only %d values in 100 steps", len(seen))
	}
}

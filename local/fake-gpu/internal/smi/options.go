package smi

import (
	"fmt"
	"slices"
	"strings"
)

// options are the understood parts of a command line.
type options struct {
	help, list       bool
	ids              string   // -i
	query            []string // fields of --query-gpu; nil when not asked
	header, hasUnits bool
}

// parse reads a command line as nvidia-smi accepts it: long options take their value after = or as next word.
func parse(args []string) (options, error) {
	opts := options{header: true, hasUnits: true}
	format := ""
	for len(args) > 0 {
		name, value, attached := strings.Cut(args[0], "=")
		args = args[1:]
		switch name {
		case "-h", "--help":
			opts.help = true
			continue
		case "-L", "--list-gpus":
			opts.list = true
			continue
		case "-i", "--id", "--query-gpu", "--format":
		default:
			return opts, fmt.Errorf("option %q is not known to this stand-in", name)
		}
		if !attached {
			if len(args) == 0 {
				return opts, fmt.Errorf("option %q needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "-i", "--id":
			opts.ids = value
		case "--query-gpu":
			opts.query = splitList(value)
		case "--format":
			format = value
		}
	}
	return opts, opts.applyFormat(format)
}

func (o *options) applyFormat(format string) error {
	words := splitList(format)
	for _, word := range words {
		switch word {
		case "csv":
		case "noheader":
			o.header = false
		case "nounits":
			o.hasUnits = false
		default:
			return fmt.Errorf("format %q is not known: use csv, noheader and nounits", word)
		}
	}
	if o.query != nil && !slices.Contains(words, "csv") {
		return fmt.Errorf("--query-gpu needs --format=csv")
	}
	return nil
}

func splitList(text string) []string {
	var words []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// Package ociruntime prepares containers with fake GPUs before runc makes them.
package ociruntime

import (
	"slices"
	"strings"
)

// call is what the wrapper must know about a runc command line.
type call struct {
	command   string // "create", "start", …; "" when there is none
	bundle    string // of a create command; "." when not given
	log       string // runc's log file, "" for none
	logFormat string // "json" or "text"
}

// flags that stand alone; all others of runc take a value, after = or as the next word.
var (
	globalSwitches = []string{"debug", "systemd-cgroup", "help", "h", "version", "v"}
	createSwitches = []string{"no-pivot", "no-new-keyring", "help", "h"}
)

// parseCall reads a command line like runc's own parser: one or two dashes, options before the command are
// global, options of the command may stand on both sides of the container's name.
func parseCall(args []string) call {
	c := call{bundle: ".", logFormat: "text"}
	rest := eachFlag(args, globalSwitches, true, func(name, value string) {
		switch name {
		case "log":
			c.log = value
		case "log-format":
			c.logFormat = value
		}
	})
	if len(rest) == 0 {
		return c
	}
	c.command = rest[0]
	if c.command == "create" {
		eachFlag(rest[1:], createSwitches, false, func(name, value string) {
			if name == "bundle" || name == "b" {
				c.bundle = value
			}
		})
	}
	return c
}

// eachFlag calls visit for each option with a value. It ends at "--" or, if asked, at the first other word,
// and returns what follows.
func eachFlag(args, switches []string, stopAtWord bool, visit func(name, value string)) []string {
	for len(args) > 0 {
		word := args[0]
		if word == "--" {
			return args[1:]
		}
		if len(word) < 2 || word[0] != '-' {
			if stopAtWord {
				return args
			}
			args = args[1:]
			continue
		}
		args = args[1:]
		name, value, attached := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		if slices.Contains(switches, name) {
			continue
		}
		if !attached {
			if len(args) == 0 {
				return nil
			}
			value, args = args[0], args[1:]
		}
		visit(name, value)
	}
	return nil
}

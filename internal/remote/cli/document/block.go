package document

import (
	"regexp"
	"strconv"
	"strings"
)

// blockHeader is the first line of a literal or folded scalar: its style, its chomping and its indentation, either first.
var blockHeader = regexp.MustCompile(`^([|>])(?:([1-9])([+-])?|([+-])([1-9])?)?(?:[ \t]+(?:#.*)?)?$`)

// block returns the text of the literal or folded scalar whose header has an extent, or what is wrong with it; end is
// the offset behind its last character that is no space, that of the header where there is none.
func (s *source) block(header extent, end int) (text, flaw string) {
	line, rest, _ := strings.Cut(s.text[header.start:], "\n")
	m := blockHeader.FindStringSubmatch(line)
	if m == nil {
		return "", "must be followed by an indentation of 1 to 9, + or -, and the text on the next line"
	}
	body := s.text[len(s.text)-len(rest):]
	used := max(0, end-(len(s.text)-len(rest)))
	lines, flaw := blockLines(body, used, header.indent, m[2]+m[5])
	if flaw != "" {
		return "", flaw
	}
	isCut := !strings.HasSuffix(body, "\n") && len(lines) == strings.Count(body, "\n")+1
	last := len(lines)
	for last > 0 && lines[last-1] == "" {
		last--
	}
	lines, trailing := lines[:last], len(lines)-last
	if m[1] == "|" {
		text = strings.Join(lines, "\n")
	} else {
		text = foldBlock(lines)
	}
	switch chomp := m[3] + m[4]; {
	case chomp == "+" && last == 0:
		text = strings.Repeat("\n", trailing)
	case last == 0 || isCut && trailing == 0: // nothing ends the last line
	case chomp == "+":
		text += strings.Repeat("\n", trailing+1)
	case chomp == "":
		text += "\n"
	}
	return text, ""
}

// blockLines returns the lines of a scalar without their indentation. Used bytes of the body are its own; lines of
// nothing but spaces that follow belong to it, too.
func blockLines(body string, used, around int, indicator string) (lines []string, flaw string) {
	indent := -1
	if indicator != "" {
		digit, err := strconv.Atoi(indicator)
		if err != nil {
			return nil, err.Error()
		}
		indent = around + digit
	}
	most := 0
	for line := range strings.SplitAfterSeq(body, "\n") {
		content := strings.Trim(line, " \n")
		if used <= 0 && strings.TrimSpace(content) != "" || line == "" {
			break
		}
		used -= len(line)
		line = strings.TrimSuffix(line, "\n")
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case content == "" && indent < 0:
			most = max(most, spaces)
			line = ""
		case indent < 0:
			indent = spaces
		}
		if indent >= 0 && most > indent {
			return nil, "must not have lines of spaces before its text that are longer than its indentation"
		}
		if content != "" && spaces < indent {
			return nil, "must have lines that are indented alike"
		}
		lines = append(lines, line[min(max(indent, 0), len(line)):])
	}
	return lines, ""
}

// foldBlock joins the lines of a folded scalar: a line break between two lines is a space, but stays beside lines that
// are indented further, and each empty line is a line break.
func foldBlock(lines []string) string {
	var b strings.Builder
	empty, before := 0, ""
	for i, line := range lines {
		if line == "" {
			empty++
			continue
		}
		switch {
		case empty == i: // nothing but empty lines before it
			b.WriteString(strings.Repeat("\n", empty))
		case isSpace(line[0]) || isSpace(before[0]):
			b.WriteString(strings.Repeat("\n", empty+1))
		default:
			writeBreaks(&b, true, empty)
		}
		b.WriteString(line)
		empty, before = 0, line
	}
	return b.String()
}

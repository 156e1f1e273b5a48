// Package wordtest finds words that slow readers down in help, messages, documents and comments. It knows the
// expressions to avoid, how to read prose out of Go and Markdown, and the list of the sentences that are allowed.
package wordtest

import (
	"regexp"
	"strings"
)

// Pattern is a way to say something that has a plainer one.
type Pattern struct {
	Number int
	// Name says what to write instead.
	Name string
	// Example is a sentence that has the pattern.
	Example    string
	expression *regexp.Regexp
}

// patterns are in the order of their numbers. There is no 12: that one takes a reader.
var patterns = []Pattern{
	{1, "if for a condition, not where", "It is null where none is stored.", regexp.MustCompile(
		`(?i)(^|[^-a-z0-9])where (it|there|none|neither|nothing|nobody|that|they|one|no|both|more|another|an?|any)\b`)},
	{2, "name the thing, not what it is", "What is not named stays.", regexp.MustCompile(
		`(^|[.;:] )What (is|was|are|were|has|had|can|cannot|it|they|no|nobody) ` +
			`|\b(of|to|from|with|at|than|against) what (is|was|are|were|has|had|it|they)\b`)},
	{3, "two sentences instead of a relative clause with a preposition", "The rule by which it waits.", regexp.MustCompile(
		`\b(of|by|on|in|from|with|after|at|to|through) (which|whom)\b`)},
	{4, "subject first, not say of or Of a", "Of an environment every change is shown.", regexp.MustCompile(
		`\b([Ss]ays?|said|[Tt]ells?|told|[Kk]nows?|known) of\b|(^|[.;] )Of (an?|the|it|what|these|those|both|several)\b`)},
	{5, "name who reports it, and where", "It drops them, which is said.", regexp.MustCompile(
		`\b(is|are|was|were) (said|told)\b|\b(says?|said) so\b|, which (is|it) (said|told|asked|says|tells)\b`)},
	{6, "ask someone to do it", "Choose another, or have an admin restore it.", regexp.MustCompile(
		`\b[Hh]ave (the (server|operator|client|program|cloud|browser|caller)|an admin|others|some(body|one)) [a-z]+`)},
	{7, "a noun or a verb, not That it", "That it is deprecated.", regexp.MustCompile(
		`\b[Ee]nd that (an?|the|it) |(^|\. )That (an?|the|it|they)\b`)},
	{8, "missing, not there is none", "It is made where there is none.", regexp.MustCompile(
		`\bwhere there (is|are) none\b|\b(what|that|which) (is|are) no [a-z]+`)},
	{9, "no longer, not any more", "It is not live any more.", regexp.MustCompile(`\bany more\b`)},
	{10, "exists, not is there", "A file that is there.", regexp.MustCompile(
		`\b(is|are|was|were) (not |already |still )?there\b`)},
	{11, "say it without the double negation", "None but an admin may.", regexp.MustCompile(
		`(?i)\b(nothing|nobody|none|no [a-z]+) but\b|\bnot another\b` +
			`|\bno[a-z]* [^.;:,|]{1,40}\b(that|who|which) (does|is|has|was|have|are|were) not?\b`)},
	{13, "repeat the noun, not one that", "One that waits is canceled.", regexp.MustCompile(
		`(^|[.;,:] |\b(for|by|of|to|and|from) )[Oo]ne (that|which|who)\b`)},
	{14, "every and the noun, not all that", "All that is shipped.", regexp.MustCompile(`(?i)\b(all|those) that\b`)},
	{15, "override, not go past", "Admins go past rules.", regexp.MustCompile(
		`\bgo(es|ne|ing)? (past|before|over)\b|\bin the place of\b`)},
	{16, "unchanged, not as it is", "The answer as it is.", regexp.MustCompile(
		`\bas (it|they) (is|are|was|were|came|come)([,.;:)]|$)|\b[Ss]tays? as\b|\bstays?[,.;:]`)},
	{17, "will or must, not is to be", "What it is to be called.", regexp.MustCompile(
		`\b(is|are|was|were) (not )?to be\b`)},
	{18, "must, not has to", "It has to succeed.", regexp.MustCompile(`\b(has|have|had) to\b`)},
	{19, "cannot, not may not", "The role may not deploy.", regexp.MustCompile(`\bmay not\b`)},
	{20, "check, fix, first, again, also", "Mend it, and judge it anew.", regexp.MustCompile(
		`(?i)\b(judg(e|es|ed|ing)|mend(s|ed|ing)?|beforehand|anew|by then|by now|for ever|but for)\b` +
			`|, too\b|\bof yours\b`)},
	{21, "name the actor, not he", "Whoever made it may approve.", regexp.MustCompile(
		`(?i)\b(his|him|he|himself|whoever)\b`)},
	{22, "omit, or name the default", "The slug if it is left out.", regexp.MustCompile(
		`\b(left|leaves?|leaving) (it |them |these |that )?out\b`)},
	{23, "immediately, or at the same time", "It ends at once.", regexp.MustCompile(`(?i)\bat once\b`)},
	{24, "say that repeating has no effect", "To approve again changes nothing.", regexp.MustCompile(
		`(^|[.;] )To [a-z]+ (it |them |the same |so |a token )?again\b|\b[Tt]he same again\b`)},
	{25, "with this id", "There is no project of this id.", regexp.MustCompile(
		`\bof (this|that) (id|name|slug|hash|givenId)\b|\b(one|none) of (the|its) (slug|name|type|givenId)\b` +
			`|\b[Tt]here is nothing with\b`)},
	{26, "receive or arrive, not come", "The last item that has come.", regexp.MustCompile(
		`\b(comes?|came) (to|back|again|next|of|in)\b|\b(has|have) come\b`)},
	{27, "the number or the status by its name", "It keeps so many lines.", regexp.MustCompile(
		`\bstands? so\b|\bso many [a-z]+`)},
	{28, "the result, or finish", "Wait for the end.", regexp.MustCompile(
		`\bfor (the|its|their) end\b|\b(to|until) (its|their|an) end\b`)},
	{29, "is, next to, conflicts with", "The flag stands beside it.", regexp.MustCompile(
		`\b(stands?|stood) (in|beside|so|above|before|behind|at)\b|\bmay stand\b|\bin (the|its) (own )?way\b|\bbesides?\b`)},
}

// noLonger is plain, unlike what is no longer than it: without it pattern 8 finds the other words alone.
var noLonger = strings.NewReplacer("no longer", "")

// Patterns returns the patterns in the order of their numbers.
func Patterns() []Pattern { return patterns }

// Hits returns the numbers of the patterns that a sentence has. Code between backquotes is no prose.
func Hits(sentence string) (numbers []int) {
	prose := code.ReplaceAllString(sentence, "`x`")
	for _, p := range patterns {
		if p.expression.MatchString(p.searched(prose)) {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}

// Count returns how often a sentence has the pattern.
func (p Pattern) Count(sentence string) int {
	return len(p.expression.FindAllStringIndex(p.searched(sentence), -1))
}

// searched returns a text without the plain words that the expression cannot tell from the others.
func (p Pattern) searched(text string) string {
	if p.Number == 8 {
		return noLonger.Replace(text)
	}
	return text
}

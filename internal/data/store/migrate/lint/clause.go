package lint

import (
	"regexp"
	"slices"

	"slipway/internal/data/store/migrate/ddl"
)

var (
	addColumn      = regexp.MustCompile(`(?i)^ADD (?:COLUMN )?(?:IF NOT EXISTS )?"?\w+"? `)
	addConstraint  = regexp.MustCompile(`(?i)^ADD (?:CONSTRAINT|CHECK|UNIQUE|PRIMARY KEY|FOREIGN KEY|EXCLUDE)\b`)
	foreignKey     = regexp.MustCompile(`(?i)\bFOREIGN KEY\b`)
	check          = regexp.MustCompile(`(?i)\bCHECK\b`)
	notValid       = regexp.MustCompile(`(?i) NOT VALID$`)
	usingIndex     = regexp.MustCompile(`(?i) USING INDEX `)
	setNotNull     = regexp.MustCompile(`(?i)^ALTER (?:COLUMN )?"?(\w+)"? SET NOT NULL$`)
	dropConstraint = regexp.MustCompile(`(?i)^DROP CONSTRAINT\b`)
	setType        = regexp.MustCompile(`(?i)^ALTER (?:COLUMN )?"?\w+"? (?:SET DATA )?TYPE\b`)

	notNull  = regexp.MustCompile(`(?i) NOT NULL\b`)
	defaults = regexp.MustCompile(`(?i) DEFAULT `)
	constant = regexp.MustCompile(`(?i) DEFAULT ` +
		`\(?(?:'(?:[^']|'')*'|[-+]?\d[\d.]*|true|false|null)\)?(?:::[\w ]+(?:\[\])?)?(?: NOT NULL| NULL)*$`)
	evaluateOnce = regexp.MustCompile(`(?i) DEFAULT ` +
		`\(?(?:now\(\)|current_timestamp|current_date|localtimestamp)\)?(?: NOT NULL| NULL)*$`)
	computed = regexp.MustCompile(`(?i) GENERATED | (?:small|big)?serial\b`)
	inline   = regexp.MustCompile(`(?i) (?:UNIQUE|PRIMARY KEY|CHECK)\b`)
)

// checkClause checks a clause of a statement that alters a table that was there before.
func checkClause(s ddl.Statement, clause string, known *linter) *Problem {
	switch {
	case addConstraint.MatchString(clause):
		return checkConstraint(clause)
	case addColumn.MatchString(clause):
		return checkColumn(clause)
	case setType.MatchString(clause):
		return &Problem{
			Why: "it writes the whole table and its indexes anew, and keeps everybody waiting meanwhile",
			Instead: "another column of the type, which the program writes beside the old one; " +
				"drop the old one in a later version",
		}
	}

	found := setNotNull.FindStringSubmatch(clause)
	if len(found) == 0 ||
		known.knowsNotNull(s.Table, found[1]) && !slices.ContainsFunc(s.Clauses, dropConstraint.MatchString) {
		return nil
	}

	return &Problem{
		Why: "it reads the whole table, and keeps everybody waiting meanwhile",
		Instead: "three files: ADD CONSTRAINT c CHECK (" + found[1] + " IS NOT NULL) NOT VALID; " +
			"then VALIDATE CONSTRAINT c; " +
			"then SET NOT NULL, which sees that it holds, and in a statement after that DROP CONSTRAINT c",
	}
}

// checkConstraint checks a constraint that is added.
func checkConstraint(clause string) *Problem {
	switch {
	case notValid.MatchString(clause), usingIndex.MatchString(clause):
		return nil
	case foreignKey.MatchString(clause):
		return &Problem{
			Why:     scans + ", those of the table that it refers to among them",
			Instead: "… NOT VALID, and VALIDATE CONSTRAINT in a file of its own after it",
		}
	case check.MatchString(clause):
		return &Problem{Why: scans, Instead: "… NOT VALID, and VALIDATE CONSTRAINT in a file of its own after it"}
	}
	return &Problem{
		Why: "it builds an index, and keeps everybody waiting until that is done",
		Instead: "a unique index that is built concurrently in a file before it, " +
			"and ADD CONSTRAINT … USING INDEX where it has to be a constraint",
	}
}

// checkColumn checks a column that is added.
func checkColumn(clause string) *Problem {
	hasDefault := defaults.MatchString(clause)
	switch {
	case computed.MatchString(clause), hasDefault && !constant.MatchString(clause) && !evaluateOnce.MatchString(clause):
		return &Problem{
			Why: "PostgreSQL has to work the value out for each row: " +
				"it writes the whole table anew, and keeps everybody waiting meanwhile",
			Instead: "a nullable column or a constant default, and the value from the program; " +
				"or a file after it with ALTER COLUMN … SET DEFAULT",
		}
	case inline.MatchString(clause):
		return &Problem{
			Why: scans,
			Instead: "the column alone; a check as ADD CONSTRAINT … NOT VALID, " +
				"uniqueness as an index that is built concurrently",
		}
	case notNull.MatchString(clause) && !hasDefault:
		return &Problem{
			Why:     "it fails where the table has rows, and rows of older servers lack it",
			Instead: "a nullable column, or a constant default",
		}
	}

	return nil
}

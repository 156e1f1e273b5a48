package setting

import "fmt"

// UsageError is what is wrong with the command line or a setting.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Usagef returns a UsageError of a formatted text.
func Usagef(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// Environment looks up a variable, as os.LookupEnv does.
type Environment func(name string) (string, bool)

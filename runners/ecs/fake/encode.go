package fake

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// jsonOf returns a value of the SDK as the JSON API of AWS has it: names begin with a small letter, times are seconds, and
// what is not there is left out.
func jsonOf(value any) any {
	if value == nil {
		return nil
	}
	return jsonValue(reflect.ValueOf(value))
}

func jsonValue(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return jsonValue(v.Elem())
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = jsonValue(v.Index(i))
		}
		return list
	case reflect.Map:
		members := map[string]any{}
		for _, key := range v.MapKeys() {
			members[key.String()] = jsonValue(v.MapIndex(key))
		}
		return members
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return float64(at.UnixMilli()) / 1000
		}
		members := map[string]any{}
		for name, field := range fieldsOf(v) {
			members[strings.ToLower(name[:1])+name[1:]] = jsonValue(field)
		}
		return members
	default:
		return v.Interface()
	}
}

// fieldsOf returns the fields of a struct of the SDK that are there.
func fieldsOf(v reflect.Value) func(yield func(string, reflect.Value) bool) {
	return func(yield func(string, reflect.Value) bool) {
		for i := range v.NumField() {
			f, field := v.Type().Field(i), v.Field(i)
			absent := field.Kind() != reflect.Int32 && field.Kind() != reflect.Bool && field.IsZero()
			if f.IsExported() && f.Name != "ResultMetadata" && !absent && !yield(f.Name, field) {
				return
			}
		}
	}
}

func replyXML(operation, id string, result any, err error) reply {
	status := http.StatusOK
	var b strings.Builder
	if err != nil {
		r := asRefusal(err)
		status = r.status
		fmt.Fprintf(&b, "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>",
			escaped(r.code), escaped(r.message), id)
	} else {
		fmt.Fprintf(&b, "<%[1]sResponse><%[1]sResult>", operation)
		writeElements(&b, reflect.ValueOf(result))
		fmt.Fprintf(&b, "</%[1]sResult><ResponseMetadata><RequestId>%[2]s</RequestId></ResponseMetadata></%[1]sResponse>", operation, id)
	}
	return reply{status, "text/xml", []byte(b.String())}
}

// writeElements writes a value of the SDK as the XML of a query API: elements have the names of the fields, and those of a list
// are called member.
func writeElements(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		writeElements(b, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			b.WriteString("<member>")
			writeElements(b, v.Index(i))
			b.WriteString("</member>")
		}
	case reflect.Struct:
		for name, field := range fieldsOf(v) {
			b.WriteString("<" + name + ">")
			writeElements(b, field)
			b.WriteString("</" + name + ">")
		}
	default:
		b.WriteString(escaped(fmt.Sprint(v.Interface())))
	}
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

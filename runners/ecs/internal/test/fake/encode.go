package fake

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"slipway-ecs/sdkjson"
)

func replyXML(operation, id string, result any, err error) reply {
	status := http.StatusOK
	var b strings.Builder
	if err != nil {
		r := asRefusal(err)
		status = r.status
		fmt.Fprintf(&b, "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error>"+
			"<RequestId>%s</RequestId></ErrorResponse>",
			escaped(r.code), escaped(r.message), id)
	} else {
		fmt.Fprintf(&b, "<%[1]sResponse><%[1]sResult>", operation)
		writeElements(&b, reflect.ValueOf(result))
		fmt.Fprintf(
			&b, "</%[1]sResult><ResponseMetadata><RequestId>%[2]s</RequestId></ResponseMetadata></%[1]sResponse>", operation, id,
		)
	}
	return reply{status, "text/xml", []byte(b.String())}
}

// writeElements writes a value of the SDK as the XML of a query API: elements have the names of the fields, and those
// of a list are called member.
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
		for name, field := range sdkjson.Fields(v) {
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

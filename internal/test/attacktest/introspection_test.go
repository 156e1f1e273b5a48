package attacktest_test

// wide is a type with all that introspection tells of it but other types' fields.
const wide = `kind name description fields(includeDeprecated: true) { name description args { name description defaultValue type { ...ref } }
	type { ...ref } isDeprecated deprecationReason } inputFields { name description defaultValue type { ...ref } }
	interfaces { ...ref } enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...ref }`

// ref is a type with what it is a list of.
const ref = ` fragment ref on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`

func introspections() []attack {
	const outer = "{ __schema { types { name "
	return []attack{
		document("the whole schema", "200", "{ __schema { types { "+wide+" } directives { name args { name } } } }"+ref),
		document("the whole schema 30 times", overLimit+"introspection", "{"+each(30, " s%d: __schema { types { ...wide } }")+" } fragment wide on __Type { "+wide+" }"+ref),
		document("the whole schema twice", overLimit+"introspection", "{"+each(2, " s%d: __schema { types { ...wide } }")+" } fragment wide on __Type { "+wide+" }"+ref),
		document("the whole schema 4 times", overLimit+"introspection", "{"+each(4, " s%d: __schema { types { ...wide } }")+" } fragment wide on __Type { "+wide+" }"+ref),
		document("every field's type's fields", "200", outer+"fields { name type { name fields { name type { name description } } } } } } }"),
		document("types of types in lists, 3 deep", invalid, outer+nested(3, "fields { type { ", "name", " } }")+" } } }"),
		document("arguments' types' fields", "200", outer+"fields { args { type { fields { args { type { name description } } } } } } } } }"),
		document("fields under 29 aliases", overLimit+"introspection", outer+each(29, " f%d: fields { name description args { name description } }")+" } } }"),
		document("fields of fields under 24 aliases", overLimit+"introspection", outer+each(5, " f%d: fields { type { a: fields { description } b: fields { description } c: fields { description } d: fields { description } } }")+" } } }"),
		document("fields of fields under 12 aliases", overLimit+"introspection", outer+each(3, " f%d: fields { type { a: fields { description } b: fields { description } c: fields { description } } }")+" } } }"),
		document("fields of fields under 6 aliases", "200", outer+each(2, " f%d: fields { type { a: fields { description } b: fields { description } } }")+" } } }"),
		document("possible types' interfaces' possible types", invalid, outer+"possibleTypes { interfaces { possibleTypes { name } } } } } }"),
		document("what a type is a list of, 60 deep", "200", "{ __type(name: \"Query\") { fields { type "+nested(57, "{ ofType ", "{ name }", " }")+" } } }"),
		document("what a type is a list of, 64 deep", overLimit+"brackets", "{ __type(name: \"Query\") { fields { type "+nested(64, "{ ofType ", "{ name }", " }")+" } } }"),
	}
}

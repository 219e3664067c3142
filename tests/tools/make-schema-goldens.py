#!/usr/bin/env python3
"""Has the PyPI package jsonschema say which JSON texts satisfy a schema.

    make-schema-goldens.py > tests/data/grammar/schema.jsonl

One schema a line, with texts that satisfy it and texts that do not. Schemas and texts are written for this purpose;
the texts name properties in the order of the schema, as the grammars do.

Needs: pip install jsonschema==4.23.0 rfc3339-validator==0.1.4
"""

import json

import jsonschema

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
    },
    "required": ["name", "tags"],
}
LIST = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"value": {"type": "number"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["value", "next"],
        }
    },
}
SHAPES = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": "dot"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "text"}, "s": {"type": "string"}}, "required": ["kind"]},
        {"type": "null"},
    ]
}

CASES = [
    (PERSON, ['{"name":"bob","tags":["a"]}', '{ "name": "b", "age": 150, "tags": ["a", "b"]\n}', '{"name":"","tags":["a"]}',
              '{"name":"bob","age":151,"tags":["a"]}', '{"name":"bob"}', '{"name":"\\u00e9\\ud83d\\ude00abc","tags":["b"]}',
              '{"name":"bobbob","tags":["a"]}', '{"name":"bob","tags":[]}', '{"name":"bob","tags":["c"]}']),
    (LIST, ['{"value":1,"next":null}', '{"value":-2.5e3,"next":{"value":0,"next":null}}', '{"value":1}', '{"value":"1","next":null}']),
    (SHAPES, ['{"kind":"dot","x":-3}', '{"kind":"text","s":"a\\"b"}', '{"kind":"text"}', 'null', '{"kind":"dot"}', '{"kind":"other"}']),
    (True, ['{}', '[1, 2.5e-3, {"a": [null, true, false]}]', '"\\n"', '-0']),
    ({"type": ["integer", "null"]}, ["12", "null", "-7", "1.5", '"1"', "true"]),
    ({"type": "integer", "minimum": -15, "exclusiveMaximum": 120}, [str(i) for i in (-16, -15, -9, -1, 0, 7, 99, 119, 120, 1000)]),
    ({"type": "integer", "exclusiveMinimum": 1234}, ["1234", "1235", "999", "2000", "12340", "-5"]),
    ({"type": "integer", "minimum": 9007199254740993, "maximum": 9223372036854775807},
     ["9007199254740992", "9007199254740993", "9223372036854775807", "10000000000000000"]),
    ({"type": "number", "minimum": 0.25, "exclusiveMaximum": 3.5}, ["0.25", "0.2", "0.249", "0.3", "1", "3", "3.4", "3.49", "3.5", "3.51", "4", "-1"]),
    ({"type": "number", "exclusiveMinimum": -1.5, "maximum": 0.125}, ["-1.5", "-1.499", "-1", "0", "0.1", "0.125", "0.1250", "0.126", "1", "-2"]),
    ({"type": "number", "exclusiveMinimum": 2}, ["2", "2.0", "2.001", "2.1", "10", "3", "1.9", "-3"]),
    ({"type": "number", "minimum": 0.1, "maximum": 0.15}, ["0.1", "0.10", "0.12", "0.15", "0.151", "0.09", "0", "1"]),
    ({"type": "string", "pattern": "^(\\d{3}-)?[a-f]+$"}, ['"abc"', '"123-a"', '"12-a"', '"g"', '""']),
    ({"type": "string", "pattern": "b+c"}, ['"bc"', '"abbcd"', '"b"', '"ac"']),
    ({"type": "string", "pattern": "^[^a\\\\]\\.\\w\"?$|x$"}, ['"b._"', '"\\".9\\""', '"a.b"', '"..x"', '"\\\\.b"', '"\\n.b"']),
    ({"type": "string", "pattern": "^$|^a(|b{2})$"}, ['""', '"a"', '"abb"', '"ab"', '"b"']),
    ({"type": "string", "format": "date"}, ['"2024-02-29"', '"2023-02-29"', '"1900-02-29"', '"2000-02-29"', '"2024-04-31"', '"2024-12-31"', '"2024-13-01"']),
    ({"type": "string", "format": "time"}, ['"23:59:59Z"', '"00:00:00.25+14:00"', '"24:00:00Z"', '"12:60:00Z"', '"12:00"']),
    ({"type": "string", "format": "date-time"}, ['"2024-02-29T12:00:00Z"', '"2023-02-29T12:00:00Z"', '"2024-01-01 12:00:00Z"']),
    ({"type": "string", "format": "uuid"}, ['"01234567-89ab-CDEF-0123-456789abcdef"', '"01234567-89ab-cdef-0123-456789abcde"', '"x"']),
    ({"type": "string", "format": "ipv4"}, ['"255.0.19.200"', '"256.0.0.0"', '"1.2.3"']),
    ({"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "integer"}},
     ['{"a":null}', '{"a":1}', '{"b":1}', '{"a":null,"ab":1}', '{"ab":null}', '{"\\u0061":1}', "{}", '{"a":null, "":3}']),
    ({"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}, ['{"n_a":1}', '{"b":1}', '{"n_":"1"}', "{}"]),
    ({"type": "object", "minProperties": 1, "maxProperties": 2}, ["{}", '{"a":1}', '{"a":1,"b":2}', '{"a":1,"b":2,"c":3}']),
    ({"type": "object", "required": ["z"], "properties": {"a": {}}}, ['{"z":1}', '{"a":[],"z":{}}', '{"a":1}']),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "null"}, "minItems": 1},
     ["[1]", '[1,"a"]', "[]", '[1,"a",null,null]', '[1,"a",2]', '["a"]']),
    ({"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, ["[]", "[true]", "[ true, false ]", "[true,true,true]", "[1]"]),
    ({"enum": [1, "a\n", None, {"x": [1, 2]}]}, ["1", '"a\\n"', "null", '{"x":[1, 2]}', "2", '{"x":[1]}']),
    ({"allOf": [{"type": "object", "properties": {"a": {"minimum": 3}}, "required": ["a"]},
                {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}]},
     ['{"a":3}', '{"a":4,"b":""}', '{"a":2}', '{"b":""}', '{"a":3.5}']),
    ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}},
     ['{"a":1}', '{"b":null}', '{"a":1,"b":null}', "{}"]),
    ({"type": ["integer", "string"], "enum": [1, 2.5, "x", None]}, ["1", '"x"', "2.5", "null"]),
    ({"type": "object", "properties": {"a": False, "b": {"type": "null"}}}, ['{"b":null}', '{"a":1}', "{}"]),
    ({"definitions": {"a/b~c": {"type": "null"}}, "items": {"$ref": "#/definitions/a~1b~0c"}, "type": "array"}, ["[null]", "[1]"]),
]


def is_valid(schema, text):
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(json.loads(text))


def main():
    for schema, texts in CASES:
        case = {"schema": schema, "yes": [], "no": []}
        for text in texts:
            case["yes" if is_valid(schema, text) else "no"].append(text)
        print(json.dumps(case, separators=(",", ":")))


if __name__ == "__main__":
    main()

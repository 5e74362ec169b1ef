"""Holds what a server answers against its own /openapi.json."""
import json
import re

METHODS = ("get", "put", "patch", "post", "delete")


class Operation:
    def __init__(self, method, pattern, raw):
        self.method = method.upper()
        self.pattern = pattern
        self.raw = raw
        self.id = raw["operationId"]
        self.is_handlers = raw["tags"] == ["handlers"]  # of the handler API: it knows no codes
        self.expression = re.compile(re.sub(r"\{\w+\}", "[^/?]+", re.escape(pattern)
                                            .replace(r"\{", "{").replace(r"\}", "}")) + r"(\?|\Z)")

    def codes(self):
        """Documented problems: (status, code)."""
        return {(int(status), code) for status, answer in self.raw["responses"].items()
                if status != "default" for code in answer.get("x-codes", [])}

    def answers(self):
        """Documented answers that are no problems: statuses."""
        return {int(status) for status, answer in self.raw["responses"].items()
                if status != "default" and "x-codes" not in answer}


class Document:
    def __init__(self, raw):
        self.raw = raw
        self.operations = [Operation(method, pattern, item[method])
                           for pattern, item in raw["paths"].items()
                           for method in METHODS if method in item]
        self.common = set(raw["components"]["responses"]["Problem"]["x-codes"])

    def find(self, method, path):
        """The operation of a request; literal segments win. None: there is none."""
        method = "GET" if method == "HEAD" else method
        found = [operation for operation in self.operations
                 if operation.method == method and operation.expression.match(path)]
        return min(found, key=lambda operation: operation.pattern.count("{"), default=None)

    def resolve(self, schema):
        while "$ref" in schema:
            at = self.raw
            for part in schema["$ref"][2:].split("/"):
                at = at[part]
            schema = at
        return schema

    def check_value(self, value, schema, where):
        """Raises AssertionError when the value is not as the schema says."""
        schema = self.resolve(schema)
        if "anyOf" in schema:  # another schema, or null
            if value is not None:
                self.check_value(value, schema["anyOf"][0], where)
            return
        kinds = schema.get("type")
        if kinds is None:
            return
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if value is None:
            assert "null" in kinds, "%s is null" % where
            return
        kind = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array",
                dict: "object"}[type(value)]
        is_fine = kind in kinds or kind == "integer" and "number" in kinds
        assert is_fine, "%s is %s, not %s" % (where, kind, kinds)
        if schema.get("format") == "date-time":
            assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)\Z", value), where
        if kind == "array":
            for i, item in enumerate(value):
                self.check_value(item, schema["items"], "%s[%d]" % (where, i))
        if kind == "object" and "properties" in schema:
            self.check_object(value, schema, where)

    def check_object(self, value, schema, where):
        missing = set(schema.get("required", [])) - set(value)
        assert not missing, "%s lacks %s" % (where, sorted(missing))
        unknown = set(value) - set(schema["properties"])
        assert not unknown or schema.get("additionalProperties", True), \
            "%s has %s: add it to src/server/openapi/schemas.c" % (where, sorted(unknown))
        for name, item in value.items():
            if name in schema["properties"]:
                self.check_value(item, schema["properties"][name], where + "." + name)

    def check(self, method, path, answer):
        """The answer is one that is documented. Answers (operation id, status, code or None)."""
        if method == "OPTIONS" and answer.status == 204:
            return None  # a browser asks whether a page may call: no operation
        operation = self.find(method, path)
        what = "%s %s answered %d" % (method, path, answer.status)
        content_type = answer.headers.get("Content-Type", "").split(";")[0]
        if content_type == "application/problem+json":
            if method == "HEAD":
                return None
            problem = json.loads(answer.body)
            self.check_value(problem, {"$ref": "#/components/schemas/Problem"}, what)
            known = operation.codes() if operation else set()
            assert problem["code"] in self.common or (answer.status, problem["code"]) in known, \
                "%s %s, which its route does not name" % (what, problem["code"])
            return operation.id if operation else None, answer.status, problem["code"]
        assert operation is not None, what
        if answer.status not in operation.answers() and operation.is_handlers and \
                answer.status >= 400:
            if method != "HEAD":
                self.check_value(json.loads(answer.body), {"$ref": "#/components/schemas/Detail"}, what)
            return operation.id, answer.status, None
        assert answer.status in operation.answers(), what + ", which its route does not name"
        content = operation.raw["responses"][str(answer.status)].get("content", {})
        if not content:
            assert answer.body == "", what
        elif method != "HEAD":
            assert content_type in content, "%s as %s" % (what, content_type)
            schema = content[content_type]["schema"]
            if content_type == "application/json" and "$ref" in schema:
                self.check_value(json.loads(answer.body), schema, what)
        return operation.id, answer.status, None

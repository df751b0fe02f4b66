/// The control API's description in OpenAPI 3.1, for tools and for the drivers' tests.
///
/// Written by hand, except for the settings of an order. A test compares its members with those of the readers and writers.
enum ControlDescription {
    static let path = "/openapi.json"

    /// The members of an order that are settings of the table, with their schemas.
    private static func members(_ place: SettingRow.SessionPlace) -> String {
        let texts = ##"{"$ref": "#/components/schemas/Texts"}"##
        return Settings.rows.filter { $0.session == place }.map { "\"\($0.key)\": \($0.schema(texts: texts))" }
            .joined(separator: ",\n")
    }

    /// The version of the protocol between a driver and `serve`. New members or paths do not change it; changes to existing ones do.
    static let version = "1"

    static let openAPI = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "Wiretape control API", "version": "1",
            "description": "Opens and ends the sessions of wiretape serve. One request per connection."
          },
          "security": [{"token": []}],
          "paths": {
            "/openapi.json": {
              "get": {
                "operationId": "describe", "summary": "This description.",
                "responses": {"200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}}}
              }
            },
            "/sessions": {
              "get": {
                "operationId": "list", "summary": "The open sessions, in the order of their start.",
                "responses": {
                  "200": {
                    "description": "The reports so far, without their details.",
                    "content": {"application/json": {"schema": {
                      "type": "object", "required": ["sessions"], "additionalProperties": false,
                      "properties": {"sessions": {"type": "array", "items": {"$ref": "#/components/schemas/Report"}}}
                    }}}
                  },
                  "default": {"$ref": "#/components/responses/Error"}
                }
              },
              "post": {
                "operationId": "open", "summary": "Opens a session.",
                "requestBody": {
                  "required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}
                },
                "responses": {
                  "201": {
                    "description": "The session.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
                  },
                  "default": {"$ref": "#/components/responses/Error"}
                }
              }
            },
            "/sessions/{id}": {
              "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
              "get": {
                "operationId": "show", "summary": "The report so far.",
                "responses": {
                  "200": {
                    "description": "The report.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Report"}}}
                  },
                  "default": {"$ref": "#/components/responses/Error"}
                }
              },
              "delete": {
                "operationId": "end", "summary": "Ends the session. The response is its last report, which is sent only once.",
                "parameters": [{
                  "name": "failed", "in": "query", "schema": {"type": "boolean"},
                  "description": "true after a failed test: a recording does not replace an older cassette."
                }],
                "responses": {
                  "200": {
                    "description": "The last report.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Report"}}}
                  },
                  "default": {"$ref": "#/components/responses/Error"}
                }
              }
            },
            "/sessions/{id}/modify": {
              "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
              "put": {
                "operationId": "modify", "summary": "Replaces the traffic rules of the session. Rules that stay keep their counts.",
                "requestBody": {
                  "required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Modification"}}}
                },
                "responses": {
                  "200": {
                    "description": "The report so far.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Report"}}}
                  },
                  "default": {"$ref": "#/components/responses/Error"}
                }
              }
            }
          },
          "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
              "Error": {
                "description": "The code is for programs, the message for people.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
              }
            },
            "schemas": {
              "Order": {
                "type": "object", "required": ["cassette"], "additionalProperties": false,
                "properties": {
                  "cassette": {"type": "string", "description": "A file in the folder: pets.json or shop/pets.json."},
                  "mode": {"enum": ["none", "once", "new-episodes", "all"], "default": "once"},
                  "name": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"},
                  "label": {"type": "string", "minLength": 1, "description": "Free text for people, such as a test's full name; at most 1024 bytes."},
                  "port": {"type": "boolean", "description": "Whether the session gets a port that needs no credentials."},
                  "folders": {"type": "boolean", "description": "Whether missing folders in the cassette's path are created."},
                  "owner": {"type": "integer", "minimum": 1, "description": "A process ID: when that process ends, the session ends too."},
                  "rules": {
                    "type": "object", "additionalProperties": false,
                    "properties": {
                      \#(Self.members(.rules))
                    }
                  },
                  \#(Self.members(.top)),
                  "refreshDates": {"oneOf": [{"type": "boolean"}, {"$ref": "#/components/schemas/Texts"}]},
                  "modify": {"$ref": "#/components/schemas/Modify"},
                  "verdict": {
                    "oneOf": [{"const": "client"}, {"type": "object"}],
                    "description": "Judges what the client does with answers that failed; an object has limits, as {\"stormCount\": \"20\"}."
                  }
                }
              },
              "Modify": {
                "type": "array", "items": {"type": "object"},
                "description": "Traffic rules, as under modify in wiretape.yaml. They name no files."
              },
              "Modification": {
                "type": "object", "required": ["modify"], "additionalProperties": false,
                "properties": {
                  "modify": {"$ref": "#/components/schemas/Modify"},
                  "ttl": {"type": "string", "description": "After this time, as 30s, the rules of the order apply again."}
                }
              },
              "Session": {
                "type": "object", "required": ["id", "cassette", "mode", "replays", "records", "proxy", "reverse"],
                "properties": {
                  "id": {"type": "string"},
                  "label": {"type": "string"},
                  "cassette": {"type": "string"},
                  "mode": {"type": "string"},
                  "replays": {"type": "boolean"},
                  "records": {"type": "boolean"},
                  "notices": {"$ref": "#/components/schemas/Texts"},
                  "proxy": {"type": "string", "description": "The proxy's URL with the session's credentials. No other response contains them."},
                  "reverse": {"type": "string"},
                  "inspector": {"type": "string"},
                  "port": {"type": "integer"},
                  "portProxy": {"type": "string"},
                  "env": {
                    "type": "object", "additionalProperties": {"type": "string"},
                    "description": "The variables that route a program through the session and make it trust Wiretape's CA."
                  },
                  "trust": {
                    "type": "object", "additionalProperties": {"type": "string"},
                    "properties": {
                      "bundle": {"type": "string", "description": "A PEM file with the system's roots and Wiretape's CA."},
                      "java": {"type": "string", "description": "The same as a PKCS #12 store."},
                      "javaPassword": {"type": "string"}
                    }
                  }
                }
              },
              "Report": {
                "type": "object", "required": ["id", "state", "cassette", "mode", "exit", "failOn", "exchanges", "verdict", "traffic"],
                "properties": {
                  "id": {"type": "string"},
                  "label": {"type": "string"},
                  "state": {"enum": ["open", "closed"]},
                  "cassette": {"type": "string"},
                  "mode": {"type": "string"},
                  "exit": {"type": "integer", "description": "0 if nothing is wrong, otherwise the exit code that a run would have."},
                  "failOn": {"type": "string"},
                  "expired": {"type": "string"},
                  "exchanges": {"type": "integer"},
                  "verdict": {
                    "type": "object",
                    "required": ["hits", "repeatedHits", "forwarded", "unreached", "answeredByRules", "misses", "orderViolations", "unused", "unreadable"],
                    "additionalProperties": {"type": "integer"}
                  },
                  "recording": {
                    "type": "object", "required": ["recorded", "lost"],
                    "properties": {
                      "file": {"type": "string"},
                      "recorded": {"type": "integer"},
                      "lost": {"type": "integer"},
                      "problem": {"type": "string"},
                      "unsearched": {"type": "integer"},
                      "leaks": {"$ref": "#/components/schemas/Texts"},
                      "namedDigests": {"$ref": "#/components/schemas/Texts"}
                    }
                  },
                  "client": {
                    "type": "array", "items": {"type": "object"},
                    "description": "What the client did with answers that failed, if verdict asks for that."
                  },
                  "rules": {
                    "type": "array", "items": {"type": "object"}, "description": "What became of each traffic rule, if there are any."
                  },
                  "traffic": {
                    "type": "object", "required": ["bytes", "tunnels", "malformed", "tlsFailures"],
                    "additionalProperties": {"type": "integer"}
                  },
                  "text": {"type": "string", "description": "The problems and what to do about them, for people; empty if there are none."},
                  "report": {"type": "object", "description": "The replay, exchange by exchange."}
                }
              },
              "Error": {
                "type": "object", "required": ["error"],
                "properties": {
                  "error": {
                    "type": "object", "required": ["code", "message"],
                    "properties": {
                      "code": {"enum": [
                        "invalid", "rules", "cassette-name", "query", "target", "bad-request", "token", "host", "origin", "not-found",
                        "method", "timeout", "too-large", "content-type", "name-taken", "cassette-in-use", "no-cassette", "cassette",
                        "expired", "failed", "disk-full", "too-many", "connections", "stopping"
                      ]},
                      "message": {"type": "string"}
                    }
                  }
                }
              },
              "Texts": {"type": "array", "items": {"type": "string"}}
            }
          }
        }

        """#
}

internal import TapeBytes
internal import TapeProxy

/// The JSON Schema of a configuration file, made from the table of settings.
enum ConfigSchema {
    /// Ends with a line end.
    static var json: String {
        let properties = Settings.rows.filter(\.isOfFiles).map { row in
            "        \(Self.quoted(row.key)): \(Self.property(row))"
        }
        return #"""
            {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "title": "Wiretape's settings: wiretape.yaml, wiretape.yml or wiretape.json",
              "$ref": "#/$defs/settings",
              "properties": {
                "prices": {
                  "description": "What a million tokens of a model cost, for inspect --usage: MODEL=INPUT,OUTPUT or MODEL=INPUT,OUTPUT,CACHED. A name that ends with * stands for all with that beginning.",
                  "$ref": "#/$defs/texts"
                },
                "cassettes": {
                  "description": "Settings for cassettes whose name fits a pattern; later ones lie over earlier ones.",
                  "type": ["object", "null"],
                  "additionalProperties": {"$ref": "#/$defs/section"}
                }
              },
              "unevaluatedProperties": false,
              "$defs": {
                "duration": {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$"},
                "texts": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "section": {"$ref": "#/$defs/settings", "unevaluatedProperties": false},
                "settings": {
                  "type": ["object", "null"],
                  "properties": {

            """# + properties.joined(separator: ",\n") + "\n      }\n    }\n  }\n}\n"
    }

    private static func property(_ row: SettingRow) -> String {
        let schema = Self.own[row.key] ?? row.schema(texts: ##"{"$ref": "#/$defs/texts"}"##)
        let option = row.option.map { option in #", "x-option": \#(Self.quoted("--\(option.name)"))"# } ?? ""
        let session = row.session == .top ? #", "x-session": true"# : ""
        return #"{"description": \#(Self.quoted(row.help))\#(option)\#(session), "# + schema.dropFirst()
    }

    /// The schemas of settings that a file writes in a way of its own.
    private static let own = [
        Settings.modify.row.key: #"{"$ref": "traffic-rules.schema.json"}"#,
        Settings.verdict.row.key: #"{"anyOf": [{"const": "client"}, {"type": "object", "properties": {"#
            + ClientVerdictLimits.durations.map { ##""\##($0)": {"$ref": "#/$defs/duration"}"## }.joined(separator: ", ")
            + ClientVerdictLimits.counts.map { #", "\#($0.name)": {"type": "integer", "minimum": \#($0.least)}"# }.joined()
            + #"}, "additionalProperties": false}]}"#,
    ]

    private enum ClientVerdictLimits {
        static let durations = [
            "retryAfterTolerance", "backoffGap", "stormTime", "retryWindow", "noRetryWait", "stallWait", "closeWait",
        ]
        static let counts = [(name: "backoffRetries", least: 1), (name: "stormCount", least: 2)]
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

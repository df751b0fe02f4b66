internal import TapeCore
internal import TapeProxy

/// One setting in force, as `wiretape config` shows it: a list has a row for each value.
struct SettingRow: Sendable, Hashable {
    var name: String
    var value: String
    var source: SettingSource

    /// All that is in force, in the order of the documentation.
    static func rows(_ settings: RunSettings) -> [SettingRow] {
        var rows: [SettingRow] = []
        func add(_ key: ConfigKey, _ value: String?, _ source: SettingSource?) {
            if let value { rows.append(SettingRow(name: key.rawValue, value: value, source: source ?? .standard)) }
        }
        func list(_ key: ConfigKey, _ list: [Setting<String>]) { for setting in list { add(key, setting.value, setting.source) } }
        add(.match, (settings.match?.value ?? MatchRules.standardNames).joined(separator: ","), settings.match?.source)
        list(.ignore, settings.ignore)
        list(.patterns, settings.patterns)
        list(.redact, settings.redact)
        list(.keep, settings.keep)
        list(.secretEnv, settings.secretEnv)
        add(.repetition, settings.repetitionInForce.rawValue, settings.repetition?.source)
        add(.order, settings.orderInForce.rawValue, settings.order?.source)
        add(.latency, settings.latency?.value ?? "none", settings.latency?.source)
        add(.failOn, settings.failOnInForce.description, settings.failOn?.source)
        add(.maxAge, settings.maxAge?.value.description, settings.maxAge?.source)
        add(.onExpired, settings.onExpiredInForce.rawValue, settings.onExpired?.source)
        for setting in settings.passthrough { add(.passthrough, setting.value.description, setting.source) }
        for setting in settings.refuse { add(.refuse, setting.value.description, setting.source) }
        return rows
    }

    /// Lines in three columns; a name is written once for all its values.
    static func table(_ rows: [SettingRow]) -> [String] {
        let names = rows.map(\.name)
        let values = rows.map { VisibleText.line($0.value) }
        let (wide, wider) = (names.map(\.count).max() ?? 0, min(values.map(\.count).max() ?? 0, 40))
        return rows.indices.map { index in
            let isRepeated = index > 0 && names[index - 1] == names[index]
            return Self.padded(isRepeated ? "" : names[index], wide) + "  " + Self.padded(values[index], wider) + "  "
                + VisibleText.line(rows[index].source.description)
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// A JSON array with an object for each row.
    static func json(_ rows: [SettingRow]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray(.lines)
        for row in rows {
            writer.element()
            writer.beginObject(.inline)
            for (name, text) in [("name", row.name), ("value", row.value), ("source", row.source.description)] as [(StaticString, String)] {
                writer.member(name)
                writer.string(text)
            }
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes + [10]
    }
}

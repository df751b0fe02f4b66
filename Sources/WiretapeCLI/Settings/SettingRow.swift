internal import CassettePlayback
internal import TapeBytes
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
        func list<Value>(_ key: ConfigKey, _ list: [Setting<Value>]) {
            for setting in list { add(key, "\(setting.value)", setting.source) }
        }
        add(.mode, settings.modeInForce.rawValue, settings.mode?.source)
        add(.match, (settings.match?.value ?? MatchRules.standardNames).joined(separator: ","), settings.match?.source)
        list(.ignore, settings.ignore)
        list(.patterns, settings.patterns)
        list(.redact, settings.redact)
        list(.keep, settings.keep)
        list(.secretEnv, settings.secretEnv)
        add(.repetition, settings.repetitionInForce.rawValue, settings.repetition?.source)
        add(.order, settings.orderInForce.rawValue, settings.order?.source)
        add(.latency, settings.latencyInForce, settings.latency?.source)
        add(.refreshDates, "\(settings.refreshesDates)", settings.refreshDates?.source)
        list(.refreshFields, settings.refreshFields)
        add(.failOn, settings.failOnInForce.description, settings.failOn?.source)
        add(.maxAge, settings.maxAge?.value.description, settings.maxAge?.source)
        add(.onExpired, settings.onExpiredInForce.rawValue, settings.onExpired?.source)
        add(.keepOnFailure, "\(settings.keepsOnFailure)", settings.keepOnFailure?.source)
        add(.review, "\(settings.reviews)", settings.review?.source)
        add(.durability, settings.durabilityInForce.rawValue, settings.durability?.source)
        add(.onDiskFull, settings.onDiskFullInForce.rawValue, settings.onDiskFull?.source)
        add(.listen, settings.listenInForce.description, settings.listen?.source)
        add(.grace, "\(settings.graceInForce)", settings.grace?.source)
        list(.passthrough, settings.passthrough)
        list(.refuse, settings.refuse)
        list(.upstreamCA, settings.upstreamCA)
        list(.insecureUpstream, settings.insecureUpstream)
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

/// In what a part of a multipart body differs from the recorded one of its name. Strings are plain text: escaped and short.
public enum PartDifference: Sendable, Hashable, CustomStringConvertible {
    /// There is no recorded part for it.
    case added(size: Int)
    /// There is no part for the recorded one.
    case removed(size: Int)
    /// Nil without one.
    case filename(here: String?, recorded: String?)
    /// The media type with its charset; empty without one.
    case type(here: String, recorded: String)
    case text(here: String, recorded: String)
    case octets(OctetDifference)
    /// Its place among the parts, where that counts, or its name.
    case place

    public var description: String {
        switch self {
        case .added(let size): "(\(OctetDifference.octets(size))) was not recorded"
        case .removed(let size): "(\(OctetDifference.octets(size)) recorded) is missing"
        case .filename(let here, let recorded):
            "has \(here.map { "the filename \"\($0)\"" } ?? "no filename"), recorded is \(recorded.map { "\"\($0)\"" } ?? "none")"
        case .type(let here, let recorded):
            "has \(here.isEmpty ? "no type" : "the type \"\(here)\""), recorded is \(recorded.isEmpty ? "none" : "\"\(recorded)\"")"
        case .text(let here, let recorded): "is \"\(here)\", recorded is \"\(recorded)\""
        case .octets(let difference): "\(difference)"
        case .place: "is at another place among the parts"
        }
    }
}

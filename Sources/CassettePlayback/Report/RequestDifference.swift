/// One way in which a request differs from a recorded one. Strings are plain text: escaped and short.
public indirect enum RequestDifference: Sendable, Hashable, CustomStringConvertible {
    case method(here: String, recorded: String)
    case scheme(here: String, recorded: String)
    /// The values are not shown, as they may contain a password.
    case userInformation
    case host(here: String, recorded: String)
    /// Empty if it is the scheme's default.
    case port(here: String, recorded: String)
    /// `edits` counts the segments to add, remove or change.
    case path(here: String, recorded: String, edits: Int)
    /// The recorded request lacks this query item.
    case queryItemAdded(String)
    /// This request lacks the recorded query item.
    case queryItemRemoved(String)
    case queryItemChanged(here: String, recorded: String)
    /// The same query items in another order.
    case queryOrder
    /// The path, or the path and the query, of a stub whose tool compares them as text. The parts are equal, but not their spelling or order.
    case spelling(part: String, here: String, recorded: String)
    /// An item that may have one value at most.
    case severalValues(String)
    /// A header field that rules compare; nil if one side lacks it.
    case header(name: String, here: String?, recorded: String?)
    /// A precondition or range on which the status of the recorded answer depends. No rule makes that status correct for a different one.
    /// Nil if one side lacks the field.
    case condition(name: String, here: String?, recorded: String?, status: Int)
    /// This request has none of the header fields that the recorded status presupposes.
    case precondition(names: [String], status: Int)
    /// How the bodies were parsed (`BodyFacets.Kind`).
    case bodyKind(here: String, recorded: String)
    /// A JSON value at a pointer, as JSON; nil if one side lacks it.
    case json(pointer: String, here: String?, recorded: String?)
    /// The elements of an array in JSON are in another order; `moved` counts those at another position.
    case order(pointer: String, moved: Int)
    /// An element of an array in JSON, counted from 0, that only one of the two has; all others are equal and in the same order.
    case element(array: String, index: Int, isNew: Bool)
    /// Two long values of which the parts around their first difference are shown, at this offset in bytes.
    case parted(offset: Int, RequestDifference)
    /// An element, an attribute or characters of XML, named by the path of local names; nil if one side lacks it.
    case xml(path: String, here: String?, recorded: String?)
    /// A gRPC message, counted from 1, or the field at a pointer in it, such as `/1:pet/2:name`; nil if one side lacks it.
    case grpc(message: Int, field: String, here: String?, recorded: String?)
    /// A field of a form; nil if one side lacks it.
    case formField(name: String, here: String?, recorded: String?)
    /// A part of a multipart body.
    case part(name: String, PartDifference)
    /// A difference in the content of a part or form field, named as in a rule: `part:meta`.
    case within(String, RequestDifference)
    /// One of the bodies lacks its closing delimiter.
    case closingDelimiter(isHere: Bool)
    /// The first line of text that differs, counted from 1.
    case text(line: Int, here: String, recorded: String)
    case bytes(ByteDifference)
    /// A query item of a GraphQL request, or of a request in a body; nil if one side lacks it.
    case innerQueryItem(name: String, here: String?, recorded: String?)
    /// The bodies differ beyond the kept part.
    case bodyRemainder
    /// The difference reported by a custom rule.
    case custom(name: String, reason: String)
    /// A difference in one message of a conversation, counted from 1.
    case message(Int, RequestDifference)
    /// The client sent this message, but the recorded conversation ended for its client after `recorded` messages.
    case messageAdded(Int, recorded: Int)
    /// The client ended its side after this many messages.
    case messagesMissing(sent: Int, recorded: Int)
    /// A difference after the bytes that are compared.
    case remainder

    public var description: String {
        switch self {
        case .method(let here, let recorded): "method is \"\(here)\", recorded is \"\(recorded)\""
        case .scheme(let here, let recorded): "scheme is \"\(here)\", recorded is \"\(recorded)\""
        case .userInformation: "user information differs"
        case .host(let here, let recorded): "host is \"\(here)\", recorded is \"\(recorded)\""
        case .port(let here, let recorded): "port is \(Self.port(here)), recorded is \(Self.port(recorded))"
        case .path(let here, let recorded, let edits):
            "path is \"\(here)\", recorded is \"\(recorded)\" (\(edits) \(edits == 1 ? "segment differs" : "segments differ"))"
        case .queryItemAdded(let item): "query item \"\(item)\" was not recorded"
        case .queryItemRemoved(let item): "recorded query item \"\(item)\" is missing"
        case .queryItemChanged(let here, let recorded): "query item is \"\(here)\", recorded is \"\(recorded)\""
        case .queryOrder: "query items are in another order"
        case .spelling(let part, let here, let recorded):
            "\(part) is written \"\(here)\", and the stub compares the text \"\(recorded)\""
        case .severalValues(let name): "query item \"\(name)\" has several values, and which stub they choose is unknown"
        case .header(let name, let here?, let recorded?): "header \"\(name)\" is \"\(here)\", recorded is \"\(recorded)\""
        case .header(let name, let here?, nil): "header \"\(name)\" is \"\(here)\", and was not recorded"
        case .header(let name, nil, let recorded): "recorded header \"\(name): \(recorded ?? "")\" is missing"
        case .condition(let name, let here, let recorded, let status):
            Self.pair("header \"\(name)\"", here, recorded) + ", and the recorded answer is a \(status)"
        case .precondition(let names, let status):
            "the recorded answer is a \(status), which only answers a request with \(names.map { "\"\($0)\"" }.joined(separator: " or "))"
        case .bodyKind(let here, let recorded): "body is \(Self.kind(here)), recorded is \(Self.kind(recorded))"
        case .json(let pointer, let here, let recorded):
            Self.pair(pointer.isEmpty ? "JSON" : "JSON \"\(pointer)\"", here, recorded, isQuoted: false)
        case .order(let pointer, let moved): "\(moved) elements of \(Self.json(pointer)) are in another order"
        case .element(let array, let index, true): "element \(index + 1) of \(Self.json(array)) is new"
        case .element(let array, let index, false): "recorded element \(index + 1) of \(Self.json(array)) is missing"
        case .parted(let offset, let difference): "\(difference), from byte \(offset)"
        case .xml(let path, let here, let recorded): Self.pair("XML \"\(path)\"", here, recorded, isQuoted: false)
        case .grpc(let message, let field, let here, let recorded):
            Self.pair(
                field.isEmpty ? "gRPC message \(message)" : "field \"\(field)\" of gRPC message \(message)", here, recorded, isQuoted: false
            )
        case .formField(let name, let here, let recorded): Self.pair("form field \"\(name)\"", here, recorded)
        case .part(let name, let difference): "part \"\(name)\" \(difference)"
        case .within(let container, let difference): "\(container): \(difference)"
        case .closingDelimiter(let isHere): isHere ? "the recorded body has no closing delimiter" : "body has no closing delimiter"
        case .text(let line, let here, let recorded): "text line \(line) is \"\(here)\", recorded is \"\(recorded)\""
        case .bytes(let difference): "body \(difference)"
        case .innerQueryItem(let name, let here, let recorded): Self.pair("query item \"\(name)\"", here, recorded)
        case .bodyRemainder: "the bodies differ after the part that was stored"
        case .custom(let name, let reason): "rule \"\(name)\": \(reason)"
        case .message(let number, let difference): "message \(number): \(difference)"
        case .messageAdded(let number, let recorded):
            "message \(number) was not recorded: the recorded client sent \(Self.messages(recorded))"
        case .messagesMissing(let sent, let recorded):
            "the client ended after \(Self.messages(sent)), the recorded one after \(recorded)"
        case .remainder: "they differ after the first \(RequestParts.byteLimit) bytes"
        }
    }

    /// Where the difference is, and both values there; a value is nil if it is missing or not shown.
    package var sides: (place: String, here: String?, recorded: String?) {
        switch self {
        case .method(let here, let recorded): ("method", here, recorded)
        case .scheme(let here, let recorded): ("scheme", here, recorded)
        case .userInformation: ("user information", nil, nil)
        case .host(let here, let recorded): ("host", here, recorded)
        case .port(let here, let recorded): ("port", here, recorded)
        case .path(let here, let recorded, _): ("path", here, recorded)
        case .queryItemAdded(let item): ("query", item, nil)
        case .queryItemRemoved(let item): ("query", nil, item)
        case .queryItemChanged(let here, let recorded): ("query", here, recorded)
        case .queryOrder: ("order of the query", nil, nil)
        case .spelling(let part, let here, let recorded): ("text of the \(part)", here, recorded)
        case .severalValues(let name): ("query", name, nil)
        case .header(let name, let here, let recorded), .condition(let name, let here, let recorded, _): ("header \(name)", here, recorded)
        case .precondition(let names, let status): ("header \(names.joined(separator: " or "))", nil, "an answer \(status)")
        case .bodyKind(let here, let recorded): ("body", Self.kind(here), Self.kind(recorded))
        case .json(let pointer, let here, let recorded): ("JSON \(pointer)", here, recorded)
        case .order(let pointer, let moved): ("order of JSON \(pointer)", "\(moved) moved", nil)
        case .element(let array, let index, let isNew): ("JSON \(array)/\(index)", isNew ? "new" : nil, isNew ? nil : "missing")
        case .parted(let offset, let difference):
            ("\(difference.sides.place) from byte \(offset)", difference.sides.here, difference.sides.recorded)
        case .xml(let path, let here, let recorded): ("XML \(path)", here, recorded)
        case .grpc(let message, let field, let here, let recorded): ("gRPC message \(message) \(field)", here, recorded)
        case .formField(let name, let here, let recorded): ("form field \(name)", here, recorded)
        case .part(let name, let difference): ("part \(name)", difference.description, nil)
        case .within(let container, let difference):
            ("\(container), \(difference.sides.place)", difference.sides.here, difference.sides.recorded)
        case .closingDelimiter(let isHere): ("closing delimiter", isHere ? "yes" : "no", isHere ? "no" : "yes")
        case .text(let line, let here, let recorded): ("text line \(line)", here, recorded)
        case .bytes(let difference): ("body", Self.count(difference.here), Self.count(difference.recorded))
        case .innerQueryItem(let name, let here, let recorded): ("query item \(name)", here, recorded)
        case .bodyRemainder: ("body after the part that was stored", nil, nil)
        case .custom(let name, let reason): ("rule \(name)", reason, nil)
        case .message(let number, let difference):
            ("message \(number), \(difference.sides.place)", difference.sides.here, difference.sides.recorded)
        case .messageAdded(let number, let recorded): ("message \(number)", "sent", "\(Self.messages(recorded)) in all")
        case .messagesMissing(let sent, let recorded): ("messages", "\(sent)", "\(recorded)")
        case .remainder: ("what follows \(RequestParts.byteLimit) bytes", nil, nil)
        }
    }

    /// Whether it is in a body or a message, so that `--ignore body` covers it.
    var isOfBody: Bool {
        switch self {
        case .bodyKind, .json, .order, .element, .parted, .xml, .grpc, .formField, .part, .within, .closingDelimiter, .text, .bytes,
            .bodyRemainder:
            true
        case .message(_, let difference): difference.isOfBody
        case .method, .scheme, .userInformation, .host, .port, .path, .queryItemAdded, .queryItemRemoved, .queryItemChanged, .queryOrder,
            .spelling, .severalValues, .header, .condition, .precondition, .innerQueryItem, .custom, .messageAdded, .messagesMissing,
            .remainder:
            false
        }
    }

    /// The place in the grammar of `--ignore`; nil if no rule can or should ignore the difference.
    package var ignorablePlace: String? { IgnorablePlace.text(self) }

    private static func count(_ bytes: Int) -> String { ByteDifference.count(bytes) }

    private static func pair(_ thing: String, _ here: String?, _ recorded: String?, isQuoted: Bool = true) -> String {
        func quoted(_ value: String) -> String { isQuoted ? "\"\(value)\"" : value }
        switch (here, recorded) {
        case (let here?, let recorded?): return "\(thing) is \(quoted(here)), recorded is \(quoted(recorded))"
        case (let here?, nil): return "\(thing), which is \(quoted(here)), was not recorded"
        case (nil, let recorded?): return "\(thing), recorded as \(quoted(recorded)), is missing"
        case (nil, nil): return "\(thing) differs"
        }
    }

    private static func json(_ pointer: String) -> String { pointer.isEmpty ? "JSON" : "JSON \"\(pointer)\"" }

    static func messages(_ count: Int) -> String { "\(count) \(count == 1 ? "message" : "messages")" }

    private static func kind(_ kind: String) -> String { kind == "none" ? "empty" : kind }

    private static func port(_ port: String) -> String { port.isEmpty ? "the default" : port }
}

/// How a part of a multipart body differs from the recorded part of the same name. Strings are plain text: escaped and short.
public enum PartDifference: Sendable, Hashable, CustomStringConvertible {
    /// The recorded body has no corresponding part.
    case added(size: Int)
    /// This body has no part for the recorded one.
    case removed(size: Int)
    /// Nil if there is none.
    case filename(here: String?, recorded: String?)
    /// The media type with its charset; empty if there is none.
    case type(here: String, recorded: String)
    case text(here: String, recorded: String)
    case bytes(ByteDifference)
    /// Its position among the parts, if order is compared, or its name.
    case place

    public var description: String {
        switch self {
        case .added(let size): "(\(ByteDifference.count(size))) was not recorded"
        case .removed(let size): "(\(ByteDifference.count(size)) recorded) is missing"
        case .filename(let here, let recorded):
            "has \(here.map { "the filename \"\($0)\"" } ?? "no filename"), recorded is \(recorded.map { "\"\($0)\"" } ?? "none")"
        case .type(let here, let recorded):
            "has \(here.isEmpty ? "no type" : "the type \"\(here)\""), recorded is \(recorded.isEmpty ? "none" : "\"\(recorded)\"")"
        case .text(let here, let recorded): "is \"\(here)\", recorded is \"\(recorded)\""
        case .bytes(let difference): "\(difference)"
        case .place: "is at another position among the parts"
        }
    }
}

/// Where and by how much bytes differ from recorded ones.
public struct ByteDifference: Sendable, Hashable, CustomStringConvertible {
    /// The first offset at which they differ; nil if it is beyond the kept part.
    public var offset: Int?
    /// The size in bytes, with marks for placeholders.
    public var here: Int
    public var recorded: Int

    public init(offset: Int?, here: Int, recorded: Int) {
        self.offset = offset
        self.here = here
        self.recorded = recorded
    }

    /// Compares the beginnings of two byte sequences; `here` and `recorded` are their full sizes.
    init(_ beginning: [UInt8], _ recordedBeginning: [UInt8], here: Int, recorded: Int) {
        let same = zip(beginning, recordedBeginning).prefix { $0 == $1 }.count
        let isDecided = same < beginning.count && same < recordedBeginning.count
        // If one ends and the other continues, they differ at the end of the shorter one.
        let isEnd = (same == here && recorded > here) || (same == recorded && here > recorded)
        self.init(offset: isDecided || (isEnd && same == min(here, recorded)) ? same : nil, here: here, recorded: recorded)
    }

    public var description: String {
        let place = self.offset.map { "differs at byte \($0)" }
        if self.here != self.recorded { return "\(place ?? "differs"): \(Self.count(self.here)), recorded \(self.recorded)" }
        return place.map { "\($0) of \(self.here)" } ?? "differs after the stored part of its \(Self.count(self.here))"
    }

    static func count(_ bytes: Int) -> String { "\(bytes) \(bytes == 1 ? "byte" : "bytes")" }
}

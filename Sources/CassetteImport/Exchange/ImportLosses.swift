internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// A kind of information that a cassette cannot take from another tool's recording, or cannot keep.
public enum ImportLoss: String, Sendable, Hashable, CaseIterable {
    /// Entries of which nothing reaches the cassette.
    case notHTTP
    case cached
    case blocked
    case responseBody
    case requestBody
    case codedBody
    case length
    case fields
    case framing
    case noBody
    case charset
    case surrogates
    case http3
    case started
    case timing
    case order
    case nameCase
    case messageTime
    case scenario
    case state
    case matcher
    case narrowed
    case secretCondition
    case refused
    case forwarded
    case host
    case scheme
    case template
    case comment
    case late
    case unknownPart
    case placeholder
    case placeholderKept
    case address
    case document
    case unanswered
    case base64
    case encoding
    case shadowed
    case unused
    case rival
    case fileOrder
    case status
    case longURL

    /// What is lost each time, as a sentence without a period.
    var text: String {
        switch self {
        case .notHTTP: "an entry is not an HTTP exchange, or names no host, and was left out"
        case .cached: "an answer came from the browser's cache without its body: a replay cuts it short"
        case .blocked: "a request was never sent and was left out"
        case .responseBody: "an answer lacks its body or a part of it: a replay cuts it short"
        case .requestBody: "a request lacks its body or a part of it: it matches any body"
        case .codedBody: "a body was saved without its compression: it is replayed decoded"
        case .length: "a body does not have the length that its header gives: the field was corrected"
        case .fields: "a header field is invalid and was left out"
        case .framing: "a message has an impossible transfer coding or length, which was left out"
        case .noBody: "an answer has a body that its status or method does not allow, which was left out"
        case .charset: "a text cannot be encoded in its charset: it is stored in UTF-8"
        case .surrogates: "a text has half a character, which was replaced"
        case .http3: "a message of HTTP/3 is recorded as HTTP/2"
        case .started: "an exchange has no start time: it follows the one before it by a millisecond"
        case .timing: "an exchange has no timing phases"
        case .order: "the order of an exchange's header fields is unknown"
        case .nameCase: "the case of an exchange's header names is unknown"
        case .messageTime: "a message has no time"
        case .scenario: "a stub is a step of a scenario: the steps become an order"
        case .state: "a stub depends on a state that other requests change, and was left out"
        case .matcher: "a stub has a condition that no recorded value can express, which was left out: it answers more requests"
        case .narrowed: "a stub has a condition that several values meet: only the one that it names does"
        case .secretCondition: "a stub requires a value that is redacted: any other one matches, too, unless you import with --keep PLACE"
        case .refused: "a stub has no request that could be recorded and was left out"
        case .forwarded: "a stub forwards its requests and has no answer, and was left out"
        case .host: "a request does not name a host: it uses the one from --host"
        case .scheme: "a stub does not name its scheme: it uses the one from --host"
        case .template: "a text has templates, which are not filled in"
        case .comment: "the comment of a header field, a cookie or a pair was left out"
        case .late: "pages or another member came after the entries and was left out"
        case .unknownPart: "a part of the recording is unknown and was left out"
        case .placeholder: "an exchange has a placeholder for its address and was left out: give its value with --placeholder NAME=VALUE"
        case .placeholderKept: "a message has a placeholder, which is kept as it is: give its value with --placeholder NAME=VALUE"
        case .address: "an exchange has no URL that names a host, and was left out: write its URL into the recording"
        case .document: "a file has a second YAML document, which was left out"
        case .unanswered: "a request without an answer, or an answer without a request, was left out"
        case .base64: "a text that should be base64 is not: the body is missing"
        case .encoding: "a text has an unknown encoding: the body is missing"
        case .shadowed: "a stub is never used, because its tool always chooses another one for its requests, and was left out"
        case .unused: "a stub is never used, because no request can meet its conditions, and was left out"
        case .fileOrder:
            "two stubs of one priority in different files answer the same requests: WireMock prefers the file that its file system lists last, and the import the last one by name or argument"
        case .rival: "a replay cannot tell the requests of two stubs apart, between which their tool chooses: one was left out"
        case .status: "an answer has no status from 100 to 999 and was left out"
        case .longURL: "a URL has more than 64 KiB, and its exchange was left out"
        }
    }
}

/// The losses of one import, counted, with the place of the first one of each kind.
final class ImportLosses {
    /// What one import has lost so far.
    struct Tally {
        var counts: [ImportLoss: Int] = [:]
        var places: [ImportLoss: String] = [:]
        var names: [ImportLoss: [String]] = [:]
    }

    /// The most names in one message.
    private static let nameLimit = 8

    /// Can be reset to an earlier state if a file turns out to be unreadable.
    var tally = Tally()
    /// The names of placeholders that were filled in.
    let filled = PlaceholderUse()
    let stubs = StubShelf()

    /// - Parameter names: the names of what is lost, for the message.
    func note(_ loss: ImportLoss, at place: String, count: Int = 1, names: [String] = []) {
        self.tally.counts[loss, default: 0] += count
        if self.tally.places[loss] == nil { self.tally.places[loss] = place }
        for name in names where self.tally.names[loss]?.contains(name) != true && self.tally.names[loss]?.count ?? 0 < Self.nameLimit {
            self.tally.names[loss, default: []].append(name)
        }
    }

    /// In a fixed order.
    var all: [ImportReport.Loss] {
        ImportLoss.allCases.compactMap { loss in
            self.tally.counts[loss].map { count in
                let names = self.tally.names[loss].map { " (\($0.joined(separator: ", ")))" } ?? ""
                return ImportReport.Loss(
                    kind: loss.rawValue, count: count, text: loss.text + names, first: self.tally.places[loss] ?? "")
            }
        }
    }
}

/// The reader's position, for messages and losses.
final class ImportContext {
    /// The path that the caller gave.
    let file: String
    /// Counts from 1; 0 before the first entry.
    var entry = 0
    let losses: ImportLosses
    let options: ImportOptions
    /// The placeholders to fill in. Collections of Postman have their own.
    let placeholders: Placeholders

    init(file: String, losses: ImportLosses, options: ImportOptions) {
        self.file = file
        self.losses = losses
        self.options = options
        self.placeholders = Placeholders(options.placeholders, use: losses.filled, hasSingleBraces: true)
    }

    func lose(_ loss: ImportLoss, at value: SourceValue? = nil, names: [String] = []) {
        self.losses.note(loss, at: self.place(value?.line), names: names)
    }

    /// The bytes of a text that a tool decoded, in the charset that its type names. Notes a loss if the charset lacks a character.
    func bytes(of text: [UInt8], type: String) -> [UInt8] {
        if let bytes = Charset.bytes(of: text, type: type) { return bytes }
        self.lose(.charset)
        return text
    }

    func place(_ line: Int?) -> String {
        let line = line.flatMap { $0 > 0 ? " line \($0)" : nil } ?? ""
        return "\"\(self.file)\"\(line)\(self.entry > 0 ? ", entry \(self.entry)" : "")"
    }

    /// - Parameter member: the invalid member, such as `request.url`; empty if the notation itself is invalid.
    func error(_ value: SourceValue, _ member: String, _ problem: String) -> CassetteError { self.error(line: value.line, member, problem) }

    func error(
        line: Int, _ member: String, _ problem: String, _ code: CassetteError.Code = .damaged,
        _ next: String = "correct it, or leave that exchange out"
    ) -> CassetteError {
        CassetteError(code, "\(self.place(line))\(member.isEmpty ? "" : ", \(member)"): \(problem): \(next).")
    }

    /// The content of a file that the recording names.
    ///
    /// - Parameters:
    ///   - folder: the folder that must contain the file.
    ///   - inner: a folder in `folder` that the name is relative to.
    func file(_ name: SourceValue, _ member: String, below folder: String, in inner: String? = nil) throws(CassetteError) -> [UInt8] {
        guard let path = name.string else { throw self.error(name, member, "expected the name of a file, found \(name.kind)") }
        do {
            return try NamedFile.read(path, below: folder, in: inner)
        } catch {
            throw CassetteError(error.code, "\(self.place(name.line)), \(member): \(error.message)", cause: error)
        }
    }

    /// A required member.
    func required(_ value: SourceValue, _ name: String, in path: String = "") throws(CassetteError) -> SourceValue {
        guard value.members != nil else { throw self.error(value, path, "expected an object, found \(value.kind)") }
        guard let member = value[name] else { throw self.error(value, path, "\"\(name)\" is missing") }
        return member
    }

    func string(_ value: SourceValue, _ name: String, in path: String) throws(CassetteError) -> String {
        let member = try self.required(value, name, in: path)
        guard let text = member.string else { throw self.error(member, "\(path).\(name)", "expected text, found \(member.kind)") }
        return text
    }

    func int(_ value: SourceValue, _ name: String, in path: String) throws(CassetteError) -> Int {
        let member = try self.required(value, name, in: path)
        guard let number = member.int else { throw self.error(member, "\(path).\(name)", "expected a whole number, found \(member.kind)") }
        return number
    }
}

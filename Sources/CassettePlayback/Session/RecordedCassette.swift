internal import CassetteFormat
public import CassetteModel
public import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// A cassette opened for replay: its exchanges in order of request start, each decoded when it is needed.
///
/// Includes conversations whose recording has not ended, as far as they were on disk when the cassette was opened. Writes nothing. Any
/// thread may use it.
public final class RecordedCassette: Sendable {
    public let path: String
    /// The part that is missing at the end of a torn file, if any; the rest is intact.
    public var damage: CassetteDamage? { self.reader.damage }
    public var count: Int { self.order.count }
    /// When the first exchange began; nil if there is none.
    public let firstStart: Timestamp?
    /// Supplies the names of gRPC message fields for the exchanges that are read.
    private let schema: ProtoSchema?
    private let reader: CassetteReader
    /// Exchanges in journals next to the file. Their positions follow those in the file.
    private let open: [OpenConversation]
    private let journalProblems: [String]
    /// A later state of the file, with the positions of conversations that have ended since.
    private let grown = Guarded<(reader: CassetteReader, positions: [Int: Int])?>(nil)
    /// Positions in the file, in order of request start.
    private let order: [Int32]
    private let requests: InteractionSummaries
    /// The login on the connection of each exchange, by index in order of request start; nil if nobody logged in on a connection.
    private let logins = Guarded<[ConnectionLogin]?>(nil)

    /// Indexes the file without decoding it.
    ///
    /// - Parameter schema: supplies the names of gRPC message fields, for tools that show them.
    public init(path: String, schema: ProtoSchema? = nil) throws(CassetteError) {
        // Journals are read before the file. A conversation that ends in between is then found in both, but never in neither.
        let journals = OpenConversations(of: path)
        var requests = InteractionSummaries()
        let reader = try CassetteReader(path: path, summaries: &requests)
        if let position = requests.firstUnreadable {
            throw CassetteError(
                .damaged,
                "\"\(path)\" line \(try reader.line(at: position)): an interaction lacks its id, start, method or url: correct it or restore the file."
            )
        }
        let open = try journals.missing(in: reader)
        for conversation in open { requests.append(conversation.summary) }
        var starts = (0..<requests.count).map { (started: requests.start(at: $0), position: Int32($0)) }
        starts.sort { ($0.started, $0.position) < ($1.started, $1.position) }
        self.path = path
        self.schema = schema
        self.firstStart = starts.first?.started
        self.reader = reader
        self.open = open
        self.journalProblems = journals.problems
        self.order = starts.map(\.position)
        self.requests = requests
        guard requests.mayLogIn else { return }
        let logins = self.readLogins()
        self.logins.withLock { $0 = logins }
    }

    /// Decodes the whole file.
    private func readLogins() -> [ConnectionLogin] {
        struct Connection: Hashable {
            var id: Int
            var remote: String
        }
        var open: [Connection: ConnectionLogin] = [:]
        return self.order.indices.map { index in
            // An unreadable exchange is reported when a request needs it.
            guard let interaction = try? self.interaction(at: index) else { return .unknown }
            guard let info = interaction.connection else {
                var login = ConnectionLogin.unknown
                login.note(interaction)
                return login
            }
            let connection = Connection(id: info.id, remote: info.remote)
            // Several recordings in one file may count their connections alike.
            var login = info.isReused ? open[connection] ?? .unknown : ConnectionLogin()
            login.note(interaction)
            open[connection] = login
            return login
        }
    }

    /// Whether an exchange may have been made from another tool's stub.
    var hasStubs: Bool { !self.requests.mayBeStubs.isEmpty }

    var hasLogins: Bool { self.logins.withLock { $0 != nil } }

    /// The login on the connection of an exchange; nil if nobody logged in on a connection.
    func login(at index: Int) -> ConnectionLogin? { self.logins.withLock { $0?[index] } }

    /// What users should know about the file before they use it, as sentences.
    public var notices: [String] {
        var notices = [self.damage?.summary].compactMap { $0 }
        if !self.open.isEmpty {
            let count = self.open.count == 1 ? "1 exchange" : "\(self.open.count) exchanges"
            notices.append(
                "\"\(self.path)\": the recording of \(count) has not ended, or its recorder was killed; the recorded part is used")
        }
        return (notices + self.journalProblems).map { "\($0)." }
    }

    /// The document up to and including the `[` before its first interaction; empty if the file is torn before that.
    func head() throws(CassetteError) -> [UInt8] { try self.reader.head() }

    /// A member of the document before its interactions; nil if there is none of that name.
    public func headMember(_ name: String) throws(CassetteError) -> UnknownMember? { try CassetteHead(self.head()).member(name) }

    /// How many exchanges can answer a request: all but tunnels that were not established.
    public var answerableCount: Int {
        self.order.reduce(0) { sum, position in
            sum + self.requests.withRequest(at: Int(position)) { method, _ in method.elementsEqual("CONNECT".utf8) ? 0 : 1 }
        }
    }

    /// The id of an exchange in the file; `index` counts in order of request start from 0.
    public func id(at index: Int) -> Int { self.requests.id(at: Int(self.order[index])) }

    /// The first request to each scheme and authority, by index in order of request start. Failed tunnels are not requests.
    public func firstOfEachOrigin() -> [Int] {
        var seen: Set<[UInt8]> = []
        var last: [UInt8] = []
        return self.order.indices.filter { index in
            self.requests.withRequest(at: Int(self.order[index])) { method, url in
                guard !method.elementsEqual("CONNECT".utf8) else { return false }
                let origin = UnsafeRawBufferPointer(rebasing: url[..<Self.endOfOrigin(url)])
                // Most requests follow one to the same origin.
                guard !last.elementsEqual(origin) else { return false }
                last = Array(origin)
                return seen.insert(last).inserted
            }
        }
    }

    /// The start of the path, at the third slash.
    private static func endOfOrigin(_ url: UnsafeRawBufferPointer) -> Int {
        var end = -1
        for _ in 0..<3 where end < url.count { end = ByteScan.index(of: UInt8(ascii: "/"), in: url, from: end + 1) }
        return min(end, url.count)
    }

    /// When an exchange began.
    func start(at index: Int) -> Timestamp { self.requests.start(at: Int(self.order[index])) }

    /// The keys by which requests are looked up. Decodes the file if the rules compare header fields.
    func keys(_ rules: MatchRules) throws(CassetteError) -> RecordedKeys {
        var keys = RecordedKeys()
        keys.reserve(self.order.count)
        let looksAtHeaders = rules.looksAtHeaders
        let stubs = Set(self.requests.mayBeStubs)
        for (index, position) in self.order.enumerated() where stubs.contains(Int(position)) {
            let headers = looksAtHeaders ? try self.interaction(at: index).request.headers : nil
            self.requests.withRequest(at: Int(position)) { method, url in
                rules.withHeadKey(method: method, url: url, headers: headers) { keys.noteStub($0) }
            }
        }
        for (index, position) in self.order.enumerated() {
            let headers = looksAtHeaders ? try self.interaction(at: index).request.headers : nil
            let position = Int(position)
            let mayHaveBody = self.requests.mayHaveBody(at: position)
            let isBound =
                self.requests.mayHaveDecidingFields(at: position)
                || self.requests.status(at: position).map { AnswerKind(status: $0).isBound } ?? true
            self.requests.withRequest(at: position) { method, url in
                rules.withHeadKey(method: method, url: url, headers: headers) {
                    keys.append($0, mayHaveBody: mayHaveBody, isBound: isBound, isTunnel: method.elementsEqual("CONNECT".utf8))
                }
            }
        }
        if !self.requests.mayRepeat.isEmpty {
            let positions = Set(self.requests.mayRepeat)
            for (index, position) in self.order.enumerated() where positions.contains(Int(position)) {
                if try self.interaction(at: index).repeats { keys.repeating.insert(index) }
            }
        }
        return keys
    }

    /// An exchange by its index in order of request start, from 0.
    public func interaction(at index: Int) throws(CassetteError) -> Interaction {
        let bytes = try self.bytes(at: index)
        do {
            return try InteractionDecoder.decode(bytes, at: .textAlone).named(by: self.schema)
        } catch {
            guard self.order[index] < self.reader.count else { throw error }
            // Decoded again for the error message: finding the line requires reading the file up to it.
            let line = try self.reader.line(at: Int(self.order[index]))
            return try InteractionDecoder.decode(bytes, at: InteractionPlace(file: self.path, line: line))
        }
    }

    /// Whether the recording of an exchange had not ended when the cassette was opened: its recorder is running, or was killed.
    public func isOpen(at index: Int) -> Bool { self.order[index] >= self.reader.count }

    /// An exchange's JSON text as it is, or will be, in the file.
    public func bytes(at index: Int) throws(CassetteError) -> [UInt8] {
        let position = Int(self.order[index])
        guard position >= self.reader.count else { return try self.reader.bytes(at: position) }
        let conversation = self.open[position - self.reader.count]
        do {
            return try conversation.text()
        } catch {
            guard error.code == .notFound, let text = try self.ended(conversation) else { throw error }
            return text
        }
    }

    /// A conversation that was open when the cassette was opened, and that a recorder has since written to the file.
    private func ended(_ conversation: OpenConversation) throws(CassetteError) -> [UInt8]? {
        if let found = self.grown.withLock({ $0 }), let position = found.positions[conversation.id] {
            return try found.reader.bytes(at: position)
        }
        let reader = try CassetteReader(path: self.path)
        let wanted = Dictionary(self.open.map { ($0.id, $0.started) }) { first, _ in first }
        var positions: [Int: Int] = [:]
        for position in 0..<reader.count {
            let summary = try reader.bytes(at: position).withUnsafeBytes { InteractionSummaryReader.read($0) }
            if let summary, wanted[summary.id] == summary.started { positions[summary.id] = position }
        }
        let found = (reader: reader, positions: positions)
        self.grown.withLock { $0 = found }
        return try positions[conversation.id].map { position throws(CassetteError) in try reader.bytes(at: position) }
    }

    /// The exchange that opened a reused connection, which has the certificates; nil if the cassette does not have it.
    ///
    /// Uses the nearest match before `index`: each recording numbers its connections from 1, and a cassette can contain several recordings.
    public func opening(of connection: ConnectionInfo, before index: Int) -> (index: Int, tls: TLSDetails)? {
        guard connection.isReused else { return nil }
        for earlier in (0..<min(index, self.count)).reversed() {
            // Few exchanges have certificates, and only those are worth decoding.
            guard let bytes = try? self.bytes(at: earlier), bytes.withUnsafeBytes({ ByteSearch.contains("\"chain\"", in: $0) }),
                let opening = try? InteractionDecoder.decode(bytes, at: .textAlone).connection, opening.id == connection.id,
                opening.remote == connection.remote, !opening.isReused, let tls = opening.tls, !tls.chain.isEmpty
            else { continue }
            return (earlier, tls)
        }
        return nil
    }

    // MARK: The head

    /// The member of a cassette's head that contains its match rules.
    static let matchMember = "match"

    /// The match rules that the cassette was recorded with or that were added by hand, as written; nil if it has none.
    public func matchTexts() throws(CassetteError) -> MatchRuleTexts? {
        try Self.matchTexts(inHead: self.head(), of: self.path)
    }

    /// The same for a file whose exchanges may be invalid.
    public static func matchTexts(ofFile path: String) throws(CassetteError) -> MatchRuleTexts? {
        try self.matchTexts(inHead: CassetteReader(path: path).head(), of: path)
    }

    /// The default rules combined with the cassette's own.
    public func matchRules() throws(CassetteError) -> MatchRules { try Self.matchRules(inHead: self.head(), of: self.path) }

    package static func matchRules(inHead head: [UInt8], of path: String) throws(CassetteError) -> MatchRules {
        guard let texts = try self.matchTexts(inHead: head, of: path) else { return .standard }
        do {
            return try MatchRules.standard.adding(texts)
        } catch {
            throw self.error(error.message, in: path)
        }
    }

    private static func matchTexts(inHead head: [UInt8], of path: String) throws(CassetteError) -> MatchRuleTexts? {
        guard let rules = try self.member(self.matchMember, ofHead: head, of: path) else { return nil }
        do {
            return try MatchRuleTexts(rules)
        } catch {
            throw self.error(error.message, in: path)
        }
    }

    private static func error(_ problem: String, in path: String) -> CassetteError {
        CassetteError(.damaged, "\"\(path)\", \"\(self.matchMember)\": \(problem)")
    }

    private static func member(_ name: String, ofHead head: [UInt8], of path: String) throws(CassetteError) -> JSONValue? {
        // The file was torn before the end of its head, so there are no rules left.
        guard head.last == UInt8(ascii: "[") else { return nil }
        do {
            return try JSONDocument(head + [UInt8(ascii: "]"), UInt8(ascii: "}")]).root[name]
        } catch {
            throw CassetteError(.damaged, "\"\(path)\" line \(error.line): \(error.reason): correct it or restore the file.", cause: error)
        }
    }

    /// The redaction rules that the cassette was recorded with. Nil if nothing was redacted; then live requests are not redacted either.
    public func redactionRules() throws(CassetteError) -> RedactionRules? {
        try Self.redactionRules(inHead: self.head(), of: self.path)
    }

    /// The same for a file whose exchanges may be invalid.
    public static func redactionRules(ofFile path: String) throws(CassetteError) -> RedactionRules? {
        try self.redactionRules(inHead: CassetteReader(path: path).head(), of: path)
    }

    private static func redactionRules(inHead head: [UInt8], of path: String) throws(CassetteError) -> RedactionRules? {
        do {
            return try CassetteHead(head).redactionRules()
        } catch {
            throw CassetteError(error.code, "\"\(path)\": \(error.message)", cause: error)
        }
    }
}

/// The source of data that a session's index of a cassette does not contain. May read from disk.
protocol RequestSource: Sendable {
    /// Whether somebody logged in on a connection of the recording.
    var hasLogins: Bool { get }

    /// Equal for requests with equal header fields, except for fields that change with each request or describe the client.
    func comparedFields(at index: Int) throws(CassetteError) -> UInt64

    /// A recorded request by its index in order of request start, from 0.
    ///
    /// - Parameter redaction: redacts the body the way live ones are redacted, since it may have been recorded with other rules.
    func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest

    /// The same for a stub that names a body but no type: the body is read as one of the live request's type.
    ///
    /// - Parameter live: the live request's header fields.
    func comparedStub(
        at index: Int, typedLike live: HeaderFields, rules: MatchRules, redaction: LiveRedactor?, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest

    /// A recorded exchange as a conversation, by its index; nil if it was not one.
    ///
    /// - Parameter redaction: as for `comparedRequest`.
    func conversation(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> RecordedConversation?
}

extension RequestSource {
    var hasLogins: Bool { false }

    /// For sources without stubs.
    func comparedStub(
        at index: Int, typedLike live: HeaderFields, rules: MatchRules, redaction: LiveRedactor?, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        try self.comparedRequest(at: index, rules: rules, detail: .contents, redaction: redaction, digest: digest)
    }

    /// For requests without header fields.
    func comparedFields(at index: Int) throws(CassetteError) -> UInt64 { 0 }
}

extension RecordedCassette: RequestSource {
    package func comparedFields(at index: Int) throws(CassetteError) -> UInt64 {
        let bytes = try self.bytes(at: index)
        let lines = bytes.withUnsafeBytes { InteractionSummaryReader.requestHeaders($0) }
        let login = self.login(at: index)?.marks.reduce(0, &+) ?? 0
        // Bytes that cannot be skimmed equal nothing.
        return lines.map { RequestFieldNames.comparedFields($0) &+ login } ?? UInt64(truncatingIfNeeded: index) | 1
    }

    package func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        try self.compared(self.interaction(at: index), index, nil, rules, detail, redaction, digest)
    }

    package func comparedStub(
        at index: Int, typedLike live: HeaderFields, rules: MatchRules, redaction: LiveRedactor?, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        try self.compared(self.interaction(at: index), index, live, rules, .contents, redaction, digest)
    }

    /// - Parameter live: the fields with the type of the body; nil for those of the recorded request.
    private func compared(
        _ interaction: Interaction, _ index: Int, _ live: HeaderFields?, _ rules: MatchRules, _ detail: BodyFacets.RecordedDetail,
        _ redaction: LiveRedactor?, _ digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        let request = interaction.request
        var headers = request.headers
        if let type = live?.first("content-type") { headers.append(name: "Content-Type", value: type) }
        func facets(_ headers: HeaderFields, _ rules: MatchRules) throws(CassetteError) -> BodyFacets {
            try BodyFacets(
                recorded: request.body, headers: headers, url: request.url, rules: rules,
                reader: BodyReader(cassettePath: self.path), detail: detail, redaction: redaction, digest: digest)
        }
        let body = try facets(headers, rules)
        var stubBody: StubDemands.BodyDemand?
        for case .bodyAs(let kind) in interaction.stub?.exact ?? [] {
            guard let match = rules.match(ofStub: kind) else { continue }
            stubBody = .init(match: match, facets: try facets(request.headers, rules.comparingBodies(as: match)))
        }
        return ComparedRequest(
            method: request.method, url: request.url, headers: request.headers, facets: body,
            isComplete: request.body?.isComplete ?? true,
            isMissing: interaction.lacksRequestBody,
            traits: ExchangeTraits(
                interaction, rules: rules, body: body, login: self.login(at: index), hasStubs: self.hasStubs, stubBody: stubBody))
    }
}

extension Interaction {
    /// Whether the request's body is missing although it was not cut, as in another tool's recording. Excludes a client that waits for 100
    /// (Continue), which keeps its body if it is refused.
    fileprivate var lacksRequestBody: Bool {
        guard let body = self.request.body, !body.isComplete, body.size == 0, self.outcome == .complete else { return false }
        return !self.request.headers.contains("expect")
    }
}

/// A recorded request and the facets of its body.
package struct ComparedRequest: Sendable {
    var method: String
    var url: String
    package var headers: HeaderFields
    package var facets: BodyFacets
    /// False if the request was cut before its end, so that its body cannot be compared.
    var isComplete: Bool
    /// Whether it is unknown if there was a body.
    var isMissing = false
    /// The traits by which the exchange is chosen among those with an equal body.
    var traits: ExchangeTraits

    var matched: MatchedRequest { MatchedRequest(method: self.method, url: self.url, headers: self.headers, body: self.facets) }
}

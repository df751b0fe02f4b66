internal import CassetteFormat
public import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// Checks a cassette and the files next to it, without changing anything.
///
/// Holds one exchange in memory at a time.
public struct CassetteVerifier {
    private let path: String
    private let reader: CassetteReader
    private let digest: () -> any ContentDigest
    private let unanswerable: (Interaction) -> String?

    /// - Parameters:
    ///   - digest: makes a fresh SHA-256.
    ///   - unanswerable: the reason why a replay could not send an answer; nil if it could.
    /// - Throws: `CassetteError` if the file is not a cassette, or cannot be read.
    public init(
        path: String, digest: @escaping () -> any ContentDigest = { PortableSHA256() },
        unanswerable: @escaping (Interaction) -> String? = { _ in nil }
    ) throws(CassetteError) {
        self.path = path
        self.unanswerable = unanswerable
        self.reader = try CassetteReader(path: path)
        self.digest = digest
    }

    /// How many exchanges the file contains.
    public var count: Int { self.reader.count }

    /// Checks everything, in the order of the file.
    public func run(
        progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }, _ found: (CareFinding) throws -> Void
    ) throws {
        if let damage = self.reader.damage {
            try found(
                CareFinding(
                    .torn, text: damage.summary + ": \"wiretape decode\" repairs it, and keeps the removed part in a file next to it")
            )
        }
        for text in self.headProblems() { try found(CareFinding(.malformed, text: text)) }
        var bodies = BodyVerifier(cassettePath: self.path, digest: self.digest)
        let conversations = ConversationVerifier(reader: BodyReader(cassettePath: self.path), digest: self.digest)
        var numbers: [Int: Int] = [:]
        for position in 0..<self.reader.count {
            progress(position, self.reader.count)
            let interaction: Interaction
            do throws(CassetteError) {
                interaction = try self.reader.interaction(at: position)
            } catch {
                try found(CareFinding(.malformed, exchange: position + 1, text: error.message))
                continue
            }
            if let other = numbers[interaction.id] {
                let text = "exchanges \(other) and \(position + 1) both have the id \(interaction.id): give one of them another id"
                try found(CareFinding(.duplicateID, exchange: position + 1, id: interaction.id, text: text))
            } else {
                numbers[interaction.id] = position + 1
            }
            for finding in self.findings(in: interaction, &bodies, conversations) { try found(finding.of(position + 1, interaction.id)) }
        }
        progress(self.reader.count, self.reader.count)
        try self.lookForOpenConversations(found)
        try self.lookForUnusedFiles(found)
    }

    /// The problems of an exchange that is not in the file yet, as if it were.
    public func findings(in interaction: Interaction) -> [CareFinding] {
        var bodies = BodyVerifier(cassettePath: self.path, digest: self.digest)
        return self.findings(
            in: interaction, &bodies, ConversationVerifier(reader: BodyReader(cassettePath: self.path), digest: self.digest))
    }

    private func findings(in interaction: Interaction, _ bodies: inout BodyVerifier, _ conversations: ConversationVerifier) -> [CareFinding]
    {
        var findings = self.problems(of: interaction).map { CareFinding(.malformed, text: $0) }
        for (message, body, headers) in interaction.bodies {
            if let finding = self.finding(body, message, headers, &bodies) { findings.append(finding) }
        }
        if let messages = interaction.webSocket { findings += conversations.problems(of: messages, &bodies) }
        return findings
    }

    private func lookForOpenConversations(_ found: (CareFinding) throws -> Void) throws {
        let open = OpenConversations(of: self.path, digest: self.digest)
        for conversation in try open.missing(in: self.reader) {
            var text =
                "its recording has not ended (\(conversation.count) messages so far): if no recorder is running, \"wiretape decode\" "
            text += "or the next recording adds it to the cassette"
            if conversation.droppedBytes > 0 { text += "; \(conversation.droppedBytes) bytes after its last message are not a message" }
            try found(CareFinding(.openConversation, id: conversation.id, text: text))
        }
        for problem in open.problems { try found(CareFinding(.unusedFile, text: problem)) }
    }

    /// Rules in the head that a replay would reject.
    private func headProblems() -> [String] {
        guard let head = try? self.reader.head() else { return [] }
        var problems: [String] = []
        if (try? CassetteHead(head).member(ThreeWayMerge.noteMember)) ?? nil != nil {
            problems.append("a merge left a \"conflict\" in the head: choose one of the values, and remove the note")
        }
        do {
            _ = try CassetteHead(head).redactionRules()
        } catch {
            problems.append(error.message)
        }
        do throws(CassetteError) {
            _ = try RecordedCassette.matchRules(inHead: head, of: self.path)
        } catch {
            problems.append(error.message)
        }
        return problems
    }

    /// Data that can be decoded, but is not valid HTTP.
    private func problems(of interaction: Interaction) -> [String] {
        var problems: [String] = []
        let request = interaction.request
        if request.method != "CONNECT", !Self.hasOrigin(request.url) {
            problems.append("request.url: no request can have this URL: write an http or https URL with a host")
        }
        let fields = [("request.headers", request.headers), ("response.headers", interaction.response?.headers ?? HeaderFields())]
        for (name, headers) in fields where (0..<headers.count).contains(where: { !headers.line(at: $0).contains(UInt8(ascii: ":")) }) {
            problems.append("\(name): a line has no name with a colon: write NAME: VALUE")
        }
        if interaction.unknown.contains(where: { $0.name == ThreeWayMerge.noteMember }) {
            problems.append("a merge left it with a \"conflict\": keep one of the exchanges, and remove its note")
        }
        problems += Self.problemsOfMarks(interaction)
        if problems.isEmpty, request.method != "CONNECT", let problem = self.unanswerable(interaction) {
            problems.append("no replay can send its answer: \(problem)")
        }
        return problems
    }

    /// Messages of an answer that wait for something the client never sent, or for less than the messages before them. A replay would
    /// stall, or send them in another order.
    private static func problemsOfMarks(_ interaction: Interaction) -> [String] {
        guard let response = interaction.response else { return [] }
        var problems: [String] = []
        var sent: Int?
        if case .grpc(let messages) = interaction.request.body?.content { sent = messages.messages.count }
        var highest = 0
        var waitsForEnd = false
        func check(_ name: String, _ after: Int?) {
            guard let after else { return waitsForEnd = true }
            if waitsForEnd {
                problems.append("\(name): the message before it waits for the client's end: leave out its \"after\" too")
            } else if after < 0 {
                problems.append("\(name): it cannot come after \(after) messages: write 0 or more")
            } else if let sent, after > sent {
                problems.append("\(name): it waits for \(after) messages of the client, which sent only \(sent): write at most that many")
            } else if after < highest {
                problems.append("\(name): it comes after fewer messages of the client than the message before it: write \(highest) or more")
            }
            highest = max(highest, after)
        }
        if let after = response.after { check("response.after", after) }
        if case .grpc(let messages) = response.body?.content {
            for (index, message) in messages.messages.enumerated() where problems.count < Self.markLimit {
                check("response.body.grpc, message \(index + 1)", message.after)
            }
        }
        if let end = response.endAfter { check("response.endAfter", end) }
        return problems
    }

    /// How many problems of one answer are reported: the first ones show what is wrong.
    private static let markLimit = 3

    private static func hasOrigin(_ url: String) -> Bool {
        let lowercase = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lowercase.hasPrefix($0) }) else { return false }
        guard let first = url.utf8.dropFirst(scheme.utf8.count).first else { return false }
        return first != UInt8(ascii: "/") && url.utf8.allSatisfy { $0 > 32 && $0 != 127 }
    }

    private func finding(_ body: Body, _ message: String, _ headers: HeaderFields, _ bodies: inout BodyVerifier) -> CareFinding? {
        switch bodies.problem(with: body) {
        case .damaged(let problem): return CareFinding(.damagedBody, message: message, text: problem)
        case .changed(let problem):
            return CareFinding(.changedBody, message: message, text: "\(problem): record it again, or keep it if it was edited on purpose")
        case nil:
            guard body.isUndecoded(headers) else { return nil }
            return CareFinding(.undeveloped, message: message, text: "it was stored raw: \"wiretape decode\" makes it readable")
        }
    }

    private func lookForUnusedFiles(_ found: (CareFinding) throws -> Void) throws {
        let references: CassetteReferences
        do throws(CassetteError) {
            references = try CassetteReferences(familyOf: self.path)
        } catch {
            return try found(CareFinding(.unjudged, text: "cannot tell which files are unused: \(error.message)"))
        }
        for file in try UnusedFiles.find(beside: self.path, references) {
            try found(CareFinding(.unusedFile, file: file, text: "no exchange refers to it: it can be removed"))
        }
    }
}

extension CareFinding {
    fileprivate func of(_ exchange: Int, _ id: Int) -> Self {
        var finding = self
        (finding.exchange, finding.id) = (exchange, id)
        return finding
    }
}

/// One finding of a check of a cassette.
public struct CareFinding: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        /// The file is torn, so that exchanges are lost.
        case torn
        /// An exchange that violates the format.
        case malformed
        /// Two exchanges with one id.
        case duplicateID = "duplicate-id"
        /// A sidecar or a raw slice that is missing, or does not match its digest.
        case damagedBody = "damaged-body"
        /// Bytes that are not the recorded ones, by size or digest: the content was edited, or cannot be encoded as before.
        case changedBody = "changed-body"
        /// A body that was stored raw and has not been decoded yet.
        case undeveloped
        /// A file in the folder of bodies that no exchange refers to.
        case unusedFile = "unused-file"
        /// The unused files are unknown, since a cassette next to this one cannot be read.
        case unjudged
        /// An exchange in a journal next to the cassette, whose recorder is running or was killed.
        case openConversation = "open-conversation"
    }

    public var kind: Kind
    /// The position in the file, counted from 1; nil if the finding is not about an exchange.
    public var exchange: Int?
    /// The id in the file, if it can be read.
    public var id: Int?
    /// `request` or `response`, if the finding is about a body.
    public var message: String?
    /// The file, relative to the cassette's folder.
    public var file: String?
    /// What was found, where, and what to do next.
    public var text: String

    public init(_ kind: Kind, exchange: Int? = nil, id: Int? = nil, message: String? = nil, file: String? = nil, text: String) {
        self.kind = kind
        self.exchange = exchange
        self.id = id
        self.message = message
        self.file = file
        self.text = text
    }

    /// Whether it could make a replay fail; otherwise it is a note.
    public var isProblem: Bool {
        switch self.kind {
        case .torn, .malformed, .duplicateID, .damagedBody, .changedBody: true
        case .undeveloped, .unusedFile, .unjudged, .openConversation: false
        }
    }
}

/// The files in a cassette's folder of bodies that no cassette refers to.
enum UnusedFiles {
    /// Paths relative to the cassette's folder, sorted by name; empty if there is no folder.
    static func find(beside path: String, _ references: CassetteReferences) throws(CassetteError) -> [String] {
        let location = FileLocation(CassettePlace.followed(path))
        var unused: [String] = []
        do {
            let folder = try OpenFolder(location.bodiesName, in: OpenFolder(location.folder))
            try folder.forEachName { name throws(CassetteError) in
                // Journals of open conversations have their own findings.
                guard JournalName(name) == nil else { return }
                let path = "\(location.bodiesName)/\(name)"
                let isUsed = name == RawSpool.fileName ? references.usesRawSpool : references.sidecars.contains(path)
                if !isUsed { unused.append(path) }
            }
        } catch {
            guard error.code == .notFound else { throw error }
        }
        return unused.sorted()
    }
}

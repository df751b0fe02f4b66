internal import CassetteFormat
internal import CassetteModel
public import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// Searches a closed cassette and every file that it names for the secrets in a vault.
struct CassetteLeakScan {
    private let scan: LeakScan
    private let cassette: CassetteReader
    private let bodies: BodyReader
    private let digest: () -> any ContentDigest
    private let budget: SearchBudget

    /// The most leaks reported for one cassette. The first ones are enough to find the others.
    static let limit = 100

    /// - Parameter budget: ends the scan early, from any thread.
    init(
        path: String, vault: SecretVault, within budget: SearchBudget = SearchBudget(), digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        self.scan = LeakScan(vault, within: budget)
        self.budget = budget
        self.cassette = try CassetteReader(path: path)
        self.bodies = BodyReader(cassettePath: path)
        self.digest = digest
    }

    /// Throws errors from reading: a file that is missing or does not match its digest was not searched.
    func leaks() throws -> [CassetteLeak] { try self.found().leaks }

    /// The leaks, and the number of exchanges that were not searched to the end before the budget was spent.
    func found() throws -> (leaks: [CassetteLeak], unchecked: Int) {
        var (leaks, checked): ([CassetteLeak], Int) = ([], 0)
        var isCut = false
        do {
            try self.scanAll(&leaks, &checked)
        } catch is SearchBudget.Spent {
            isCut = true
        }
        var known: Set<CassetteLeak> = []
        return (
            Array(leaks.filter { known.insert($0).inserted }.prefix(Self.limit)), isCut ? self.cassette.count - checked : 0
        )
    }

    private func scanAll(_ leaks: inout [CassetteLeak], _ checked: inout Int) throws {
        leaks += try self.leaks(in: try self.cassette.head(), firstLine: 1, exchange: nil)
        var seen: Set<String> = []
        for position in 0..<self.cassette.count where leaks.count < Self.limit {
            checked = position
            guard !self.budget.isSpent else { throw SearchBudget.Spent() }
            let bytes = try self.cassette.bytes(at: position)
            let id = bytes.withUnsafeBytes { InteractionSummaryReader.read($0) }?.id ?? position + 1
            leaks += try self.leaks(in: bytes, firstLine: nil, exchange: id, position: position)
            // Without these characters, the text names no file and contains no compressed message.
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) || ByteSearch.contains("\"compressed\"", in: $0) }) else {
                continue
            }
            leaks += try self.leaks(inFilesOf: self.cassette.interaction(at: position), id, &seen)
        }
    }

    private func leaks(in text: [UInt8], firstLine: Int?, exchange: Int?, position: Int = 0) throws -> [CassetteLeak] {
        let found = try self.scan.leaks(in: ByteSource(text))
        guard !found.isEmpty else { return [] }
        let first = try firstLine ?? self.cassette.line(at: position)
        return found.map { leak in
            let line = first + text[..<min(leak.offset, text.count)].count(where: { $0 == 0x0a })
            return CassetteLeak(exchange: exchange, place: "line \(line)", placeholder: leak.placeholder, spelling: leak.spelling)
        }
    }

    private func leaks(inFilesOf interaction: Interaction, _ id: Int, _ seen: inout Set<String>) throws -> [CassetteLeak] {
        var leaks: [CassetteLeak] = []
        let messages = [
            (interaction.request.body, interaction.request.headers), (interaction.response?.body, interaction.response?.headers),
        ]
        for case (let body?, let headers?) in messages {
            // If there was no time to search a body, that has been reported, and the body is not decoded here either.
            let isSearched = !UnsearchedNote.isIn(body.note)
            var sources: [(name: String, source: ByteSource, codings: [ContentEncoding.Name])] = []
            for sidecar in body.content.sidecars where seen.insert(sidecar.path).inserted {
                let codings = body.hasCodingsLeft(headers) ? Self.codings(headers) : []
                sources.append(("\"\(sidecar.path)\"", try self.bodies.source(sidecar, digest: self.digest()), codings))
            }
            if let original = body.original, seen.insert(original.path).inserted {
                sources.append(("\"\(original.path)\"", try self.bodies.source(original, digest: self.digest()), Self.codings(headers)))
            }
            if case .raw(let slice) = body.content {
                sources.append(("\"\(slice.path)\"", ByteSource(try self.bodies.read(slice)), Self.codings(headers)))
            }
            if case .grpc(let messages) = body.content, isSearched { sources += Self.compressed(messages, headers) }
            for (name, source, codings) in sources {
                leaks += try self.scan.leaks(in: source, codings: codings, decodes: isSearched).map {
                    CassetteLeak(exchange: id, place: "\(name) byte \($0.offset)", placeholder: $0.placeholder, spelling: $0.spelling)
                }
            }
        }
        for sidecar in try interaction.webSocket.map({ try self.bodies.sidecars(of: $0, digest: self.digest()) }) ?? []
        where seen.insert(sidecar.path).inserted {
            leaks += try self.scan.leaks(in: self.bodies.source(sidecar, digest: self.digest())).map {
                CassetteLeak(
                    exchange: id, place: "\"\(sidecar.path)\" byte \($0.offset)", placeholder: $0.placeholder, spelling: $0.spelling)
            }
        }
        return leaks
    }

    /// Compressed messages inside the cassette, whose contents do not appear in its text.
    private static func compressed(
        _ body: GRPCMessages, _ headers: HeaderFields
    ) -> [(name: String, source: ByteSource, codings: [ContentEncoding.Name])] {
        let coding = GRPCType.coding(headers).flatMap(ContentEncoding.Name.init(rawValue:)).flatMap { $0.isSupported ? $0 : nil }
        return body.messages.enumerated().flatMap { index, message in
            var kept: [[UInt8]] = []
            if message.isCompressed, message.coding == nil, case .binary(let bytes) = message.content { kept.append(bytes) }
            if case .bytes(let bytes) = message.original { kept.append(bytes) }
            return kept.map { ("message \(index + 1)", ByteSource($0), coding.map { [$0] } ?? []) }
        }
    }

    private static func codings(_ headers: HeaderFields) -> [ContentEncoding.Name] {
        if case .coded(let names) = ContentEncoding(headers) { names } else { [] }
    }
}

/// A redacted secret that is still in a cassette or in a file next to it. Contains its place, never the secret.
public struct CassetteLeak: Sendable, Hashable, CustomStringConvertible {
    /// The number of the exchange; nil before the first one.
    public var exchange: Int?
    /// `line 120`, or the file next to the cassette with an offset in it.
    public var place: String
    public var placeholder: Placeholder
    public var spelling: Leak.Spelling

    public init(exchange: Int?, place: String, placeholder: Placeholder, spelling: Leak.Spelling) {
        self.exchange = exchange
        self.place = place
        self.placeholder = placeholder
        self.spelling = spelling
    }

    public var description: String {
        let whose = self.exchange.map { "exchange \($0)" } ?? "the cassette's beginning"
        return "\(whose), \(self.place): the value of \(self.placeholder) (\(self.spelling.rawValue))"
    }
}

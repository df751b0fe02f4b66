public import TapeBytes
internal import CassetteFormat
public import CassetteModel
public import CassetteStore

/// A cassette opened for replay: its exchanges in order of request start, each decoded when it is needed.
///
/// Writes nothing. Any thread may use it.
public final class RecordedCassette: Sendable {
    public let path: String
    /// What was torn off the file, if anything; the rest is intact.
    public var damage: CassetteDamage? { self.reader.damage }
    public var count: Int { self.order.count }
    /// When the first exchange began; nil where there is none.
    public let firstStart: Timestamp?
    private let reader: CassetteReader
    /// Positions in the file, in order of request start.
    private let order: [Int32]
    private let requests: RecordedRequests

    /// Indexes the file without decoding it.
    public init(path: String) throws(CassetteError) {
        let reader = try CassetteReader(path: path)
        var starts: [(started: Int64, position: Int32)] = []
        starts.reserveCapacity(reader.count)
        var requests = RecordedRequests()
        requests.reserve(reader.count)
        for position in 0..<reader.count {
            let summary = try reader.bytes(at: position).withUnsafeBytes { InteractionSummaryReader.read($0) }
            guard let summary else {
                throw CassetteError(
                    .damaged,
                    "\"\(path)\" line \(try reader.line(at: position)): an interaction lacks its id, start, method or url: correct it or restore the file."
                )
            }
            starts.append((summary.started.microseconds, Int32(position)))
            requests.append(summary)
        }
        starts.sort { ($0.started, $0.position) < ($1.started, $1.position) }
        self.path = path
        self.firstStart = starts.first.map { Timestamp(microseconds: $0.started) }
        self.reader = reader
        self.order = starts.map(\.position)
        self.requests = requests
    }

    /// The document before its first interaction, up to and with the `[`; empty where the file is torn before that.
    func head() throws(CassetteError) -> [UInt8] { try self.reader.head() }

    /// How many exchanges can answer a request: all but tunnels that did not come about.
    public var answerableCount: Int {
        self.order.reduce(0) { sum, position in
            sum + self.requests.withRequest(at: Int(position)) { method, _ in method.elementsEqual("CONNECT".utf8) ? 0 : 1 }
        }
    }

    /// The id that an exchange has in the file; `index` counts in order of request start from 0.
    public func id(at index: Int) -> Int { self.requests.id(at: Int(self.order[index])) }

    /// When an exchange began, read from the file; nil where it cannot be read any more.
    func start(at index: Int) -> Timestamp? {
        (try? self.reader.bytes(at: Int(self.order[index])))?.withUnsafeBytes { InteractionSummaryReader.read($0) }?.started
    }

    /// What requests are looked up by. Decodes the file where rules look at header fields.
    func keys(_ rules: MatchRules) throws(CassetteError) -> RecordedKeys {
        var keys = RecordedKeys()
        for (index, position) in self.order.enumerated() {
            let headers = rules.looksAtHeaders ? try self.interaction(at: index).request.headers : nil
            let mayHaveBody = self.requests.mayHaveBody(at: Int(position))
            self.requests.withRequest(at: Int(position)) { method, url in
                rules.withHeadKey(method: method, url: url, headers: headers) {
                    keys.append($0, mayHaveBody: mayHaveBody, isTunnel: method.elementsEqual("CONNECT".utf8))
                }
            }
        }
        return keys
    }

    /// An exchange by its number in order of request start, from 0.
    public func interaction(at index: Int) throws(CassetteError) -> Interaction {
        let bytes = try self.bytes(at: index)
        do {
            return try InteractionDecoder.decode(bytes)
        } catch {
            // Once more for the message: finding the line costs a read of the file up to it.
            let line = try self.reader.line(at: Int(self.order[index]))
            return try InteractionDecoder.decode(bytes, at: InteractionPlace(file: self.path, line: line))
        }
    }

    /// An exchange's JSON text as it stands in the file.
    public func bytes(at index: Int) throws(CassetteError) -> [UInt8] {
        try self.reader.bytes(at: Int(self.order[index]))
    }
}

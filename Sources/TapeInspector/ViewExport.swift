internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// The exchanges of a view in a format that other tools read, made piece by piece.
///
/// Not Sendable: its caller asks for the pieces in turn.
final class ViewExport {
    enum Format: String, CaseIterable {
        case har, curl, zip
        /// The cassette's file, or with its bodies as a ZIP archive.
        case cassette

        var fileExtension: String {
            switch self {
            case .curl: "sh"
            case .cassette: "json"
            case .har, .zip: self.rawValue
            }
        }

        var type: String {
            switch self {
            case .har, .cassette: "application/json"
            case .curl: "text/plain; charset=utf-8"
            case .zip: "application/zip"
            }
        }
    }

    /// The approximate size of a piece, in bytes.
    private static let piece = 256 << 10

    private let moment: InspectedCassette.Moment
    private let cassette: InspectedCassette
    private let keys: [UInt32]
    private let format: Format
    private let number: (Int) -> Int
    private let reader: BodyReader
    private let made = Made()
    private var har: HARWriter
    private var zip = ZipWriter()
    private var place = 0
    private var isBegun = false
    private var isEnded = false

    private final class Made {
        var bytes: [UInt8] = []
    }

    init(
        _ format: Format, _ ordinals: [UInt32], _ moment: InspectedCassette.Moment, of cassette: InspectedCassette,
        number: @escaping (Int) -> Int
    ) {
        self.format = format
        self.keys = ordinals
        self.moment = moment
        self.cassette = cassette
        self.number = number
        self.reader = BodyReader(cassettePath: cassette.path)
        let made = self.made
        self.har = HARWriter(bodies: CassetteBodySource(path: cassette.path), sink: VisibleText.json(to: { made.bytes += $0 }))
    }

    func next() throws -> [UInt8]? {
        guard !self.isEnded else { return nil }
        self.made.bytes = []
        if !self.isBegun {
            self.isBegun = true
            if self.format == .har { try self.har.begin(creator: "wiretape", version: Version.current) }
        }
        while self.place < self.keys.count, self.made.bytes.count < Self.piece {
            try self.append(Int(self.keys[self.place]))
            self.place += 1
        }
        if self.place == self.keys.count {
            self.isEnded = true
            switch self.format {
            case .har: try self.har.end()
            case .zip: self.made.bytes += self.zip.end()
            case .curl, .cassette: break
            }
        }
        return self.made.bytes
    }

    private func append(_ ordinal: Int) throws {
        let interaction = try self.moment.interaction(ordinal, of: self.cassette)
        let number = self.number(ordinal)
        switch self.format {
        case .har: try self.har.append(interaction)
        case .curl:
            self.made.bytes += Array("# exchange \(number)\n".utf8)
            do {
                self.made.bytes += try CurlCommand(interaction, number: number, folder: "wiretape-\(number)", reader: self.reader).text.utf8
            } catch let error as InspectError {
                self.made.bytes += Array("# \(error.message)\n".utf8)
            }
            self.made.bytes.append(10)
        case .cassette: break
        case .zip:
            for side in MessageChoice.allCases {
                let (body, headers) = interaction.body(of: side)
                guard let body, body.size > 0 else { continue }
                let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
                let name = "\(number)-\(side.rawValue).\(try BodyExtraction.fileExtension(contents, headers))"
                self.made.bytes += try self.zip.add(
                    name, contents.prefix(ZipWriter.sizeLimit), isWhole: contents.size <= ZipWriter.sizeLimit)
            }
        }
    }
}

/// A ZIP archive (PKWARE, APPNOTE 6.3.10) with uncompressed files.
struct ZipWriter {
    /// The most bytes of one file, because it is held in memory.
    static let sizeLimit = 256 << 20
    /// The limit without ZIP64.
    private static let archiveLimit = Int(UInt32.max)
    private static let fileLimit = Int(UInt16.max)

    private var directory: [UInt8] = []
    private var offset = 0
    private var count = 0

    /// A file's header and its bytes.
    ///
    /// - Parameter isWhole: false if the file is truncated, in which case it is refused.
    mutating func add(_ name: String, _ data: [UInt8], isWhole: Bool = true) throws -> [UInt8] {
        guard isWhole, self.offset + data.count < Self.archiveLimit - self.directory.count, self.count < Self.fileLimit else {
            throw CassetteError(.tooLarge, "these bodies are too large for one archive: filter the list, or use wiretape inspect --extract")
        }
        let name = Array(name.utf8)
        let crc = data.withUnsafeBytes { CRC32.value(of: $0, after: 0) }
        // Version 2.0; UTF-8 names; stored; no time.
        let common =
            Self.bytes16(20, 1 << 11, 0, 0, 0x21) + Self.bytes32(crc, UInt32(data.count), UInt32(data.count))
            + Self.bytes16(UInt16(name.count), 0)
        let local = Self.bytes32(0x0403_4B50) + common + name
        self.directory +=
            Self.bytes32(0x0201_4B50) + Self.bytes16(20) + common + Self.bytes16(0, 0, 0) + Self.bytes32(0, UInt32(self.offset)) + name
        self.offset += local.count + data.count
        self.count += 1
        return local + data
    }

    /// The list of files.
    func end() -> [UInt8] {
        let count = UInt16(self.count)
        return self.directory + Self.bytes32(0x0605_4B50) + Self.bytes16(0, 0, count, count)
            + Self.bytes32(UInt32(self.directory.count), UInt32(self.offset)) + Self.bytes16(0)
    }

    private static func bytes16(_ values: UInt16...) -> [UInt8] {
        values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    private static func bytes32(_ values: UInt32...) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) } }
    }
}

/// Permits fetching something once without the token, which a download cannot send.
final class DownloadTickets: Sendable {
    /// How long a ticket is valid.
    private static let life = Duration.seconds(30)
    private static let limit = 100

    struct Order: Sendable, Equatable {
        var format: ViewExport.Format
        var view: Int?
        /// The keys of chosen exchanges, and the file that they belong to; nil for all of the view.
        var keys: [Int]?
        var epoch: Int?
    }

    private let tickets = Guarded<[String: (order: Order, until: ContinuousClock.Instant)]>([:])

    func issue(_ order: Order, now: ContinuousClock.Instant = .now) -> String {
        let name = Secret.random(byteCount: 32).revealed
        self.tickets.withLock { tickets in
            tickets = tickets.filter { $0.value.until > now }
            if tickets.count < Self.limit { tickets[name] = (order, now + Self.life) }
        }
        return name
    }

    func has(_ name: String) -> Bool { self.tickets.withLock { $0[name] != nil } }

    /// nil if the ticket was used, has expired or does not exist.
    func take(_ name: String, now: ContinuousClock.Instant = .now) -> Order? {
        self.tickets.withLock { $0.removeValue(forKey: name) }.flatMap { $0.until > now ? $0.order : nil }
    }
}

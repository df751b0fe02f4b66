internal import CassetteModel
public import CassetteRedaction
internal import CassetteStore
internal import Platform
public import TapeBytes
internal import TapeRecorder

/// A tool whose recordings can be imported.
public enum ImportKind: String, Sendable, Hashable, CaseIterable {
    case har, mitmproxy, vcrpy, vcr, betamax
    case testProxy = "test-proxy"
    case wiremock
    case goVCR = "go-vcr"
    case cassetter, polly, hoverfly
    case nock, charles, postman, httprr, fiddler, burp, warc, raw

    /// The tool's name, for people.
    public var name: String {
        switch self {
        case .har: "HAR"
        case .mitmproxy: "mitmproxy"
        case .vcrpy: "vcrpy"
        case .vcr: "VCR"
        case .betamax: "betamax"
        case .testProxy: "Azure test-proxy"
        case .wiremock: "WireMock"
        case .goVCR: "go-vcr"
        case .cassetter: "cassetter"
        case .polly: "Polly"
        case .hoverfly: "Hoverfly"
        case .nock: "nock"
        case .charles: "Charles"
        case .postman: "Postman"
        case .httprr: "httprr"
        case .fiddler: "Fiddler"
        case .burp: "Burp"
        case .warc: "WARC"
        case .raw: "raw HTTP messages"
        }
    }

    var isArchive: Bool { self == .har || self == .polly }
}

/// The options of an import.
public struct ImportOptions: Sendable {
    /// Nil to detect the tool from the content of each file.
    public var kind: ImportKind?
    /// What is redacted; nil to keep secrets.
    public var redaction: RedactionRules? = .standard
    /// Whether the import fails if anything is lost.
    public var isStrict = false
    /// Scheme and authority for requests that name no host, as in stubs.
    public var base = "http://localhost"
    /// The values of placeholders, by the names in their brackets.
    public var placeholders: [String: String] = [:]

    public init() {}
}

/// The result of an import.
public struct ImportReport: Sendable {
    public struct Loss: Sendable, Hashable {
        public var kind: String
        public var count: Int
        /// What is lost each time.
        public var text: String
        /// The file, line and entry of the first one.
        public var first: String
    }

    public struct Source: Sendable, Hashable {
        public var file: String
        public var kind: ImportKind
        public var exchanges: Int
    }

    /// A file that could not be read although others could.
    public struct Failure: Sendable, Hashable {
        public var file: String
        /// What is wrong, and what to do next.
        public var message: String
    }

    public var sources: [Source]
    public var failures: [Failure] = []
    public var losses: [Loss]
    /// Secrets that remain in the cassette.
    public var leaks: [String]

    public var exchanges: Int { self.sources.reduce(0) { $0 + $1.exchanges } }
}

/// Something was lost in a strict import, so no cassette was made.
public struct StrictImportError: Error {
    public var losses: [ImportReport.Loss]
}

/// The import was cancelled.
private struct Interrupted: Error {}

/// Makes a cassette from other tools' recordings with a recorder, which redacts, decodes and writes them like live traffic.
///
/// Writes a complete new cassette or none.
public struct CassetteImporter {
    /// The body bytes of one file that are held until it is known to be readable.
    private static let heldLimit = 64 << 20

    private let options: ImportOptions
    private let digest: @Sendable () -> any ContentDigest

    public init(_ options: ImportOptions, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }) {
        self.options = options
        self.digest = digest
    }

    /// Reads a file as an import does, but writes nothing.
    ///
    /// - Returns: the kind of recording that was detected, and what an import would lose.
    package func examine(_ file: String) throws -> ImportReport {
        let losses = ImportLosses()
        let source = try RecordingSource(file, losses: losses, options: self.options)
        var count = 0
        try source.read { exchange in
            var exchange = exchange
            exchange.settle(source.context)
            count += 1
        }
        for stub in losses.stubs.chosen() {
            var exchange = stub.exchange
            exchange.settle(source.context)
            count += 1
        }
        return ImportReport(
            sources: [.init(file: file, kind: source.kind, exchanges: count)], losses: losses.all, leaks: [])
    }

    /// - Parameters:
    ///   - path: the path of the cassette, which must not exist.
    ///   - isCancelled: called before each exchange.
    ///   - reading: called with the number of exchanges that have been read.
    ///   - finishing: called with the number of exchanges whose bodies have been decoded.
    ///
    /// A file that cannot be read does not stop the others, unless the import is strict.
    ///
    /// Throws `CassetteError` and `StrictImportError`.
    public func run(
        _ files: [String], to path: String, version: String, isCancelled: () -> Bool = { false },
        notify: @escaping @Sendable (String) -> Void = { _ in }, reading: (_ count: Int) -> Void = { _ in },
        finishing: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> ImportReport {
        guard !CassettePlace.exists(path) else {
            throw CassetteError(.unwritable, "\"\(path)\" already exists, and an import never replaces a file: name a new one.")
        }
        // Before any file is created, so that unreadable input leaves none behind.
        let losses = ImportLosses()
        let bodies = FileLocation(path).sibling(FileLocation(path).bodiesName)
        let hadBodies = CassettePlace.exists(bodies)
        var failures: [ImportReport.Failure] = []
        var firstError: CassetteError?
        // Whether the import continues without a file.
        func goesOn(without file: String, _ error: CassetteError, _ what: String = "") -> Bool {
            guard files.count > 1, !self.options.isStrict else { return false }
            failures.append(.init(file: file, message: what + error.message))
            firstError = firstError ?? error
            return true
        }
        var sources: [RecordingSource] = []
        for file in files {
            let before = losses.tally
            do throws(CassetteError) {
                let source = try RecordingSource(file, losses: losses, options: self.options)
                try HARExtras.check(source)
                sources.append(source)
            } catch {
                losses.tally = before
                guard goesOn(without: file, error) else { throw error }
            }
        }
        if sources.isEmpty, let firstError { throw firstError }
        var plan = try RecordingPlan(path: path, mode: .once, exists: false)
        // A killed import must not leave half a cassette under the name.
        plan.target = .stage
        plan.sources = try sources.flatMap { source throws(CassetteError) in try source.files() }
        plan.headMembers = [try HARExtras.member(of: sources)].compactMap { $0 }
        guard
            let recorder = try Recorder(
                plan, version: version, redaction: self.options.redaction, digest: self.digest, notify: notify)
        else { throw CassetteError(.unwritable, "\"\(path)\" cannot be recorded: name another file.") }
        var report = ImportReport(sources: [], losses: [], leaks: [])
        var read = 0
        do {
            let intake = ExchangeIntake(recorder)
            for source in sources {
                let (before, tally) = (intake.count, losses.tally)
                var held: [ImportedExchange] = []
                var heldSize = 0
                func put() {
                    for exchange in held { intake.put(exchange, source.context, fileTime: source.time) }
                    (held, heldSize) = ([], 0)
                }
                do {
                    try source.read { exchange in
                        guard !isCancelled() else { throw Interrupted() }
                        read += 1
                        reading(read)
                        held.append(exchange)
                        heldSize += exchange.size
                        if heldSize > Self.heldLimit || files.count == 1 { put() }
                    }
                    put()
                } catch let error as CassetteError {
                    let kept = intake.count - before
                    if kept == 0 { losses.tally = tally }
                    guard goesOn(without: source.path, error, kept > 0 ? "only its first \(kept) exchanges were imported: " : "") else {
                        throw error
                    }
                    guard kept > 0 else { continue }
                }
                report.sources.append(.init(file: source.path, kind: source.kind, exchanges: intake.count - before))
            }
            if report.sources.isEmpty, let firstError { throw firstError }
            for stub in losses.stubs.chosen() {
                guard !isCancelled() else { throw Interrupted() }
                read += 1
                reading(read)
                let before = intake.count
                stub.context.entry = stub.entry
                guard let index = report.sources.firstIndex(where: { $0.file == stub.context.file }),
                    let source = sources.first(where: { $0.context === stub.context })
                else { continue }
                intake.put(stub.exchange, stub.context, fileTime: source.time)
                report.sources[index].exchanges += intake.count - before
            }
            try self.checkPlaceholders(losses.filled)
            report.failures = failures
            report.losses = losses.all
            if self.options.isStrict, !report.losses.isEmpty { throw StrictImportError(losses: report.losses) }
            if report.exchanges == 0 { throw Self.nothing(in: files, report.losses) }
        } catch {
            try recorder.discard()
            // Empty by now, even if there was a long body.
            if !hadBodies { rmdir(bodies) }
            if error is Interrupted { throw CassetteError(.unwritable, "the import was interrupted: nothing was written.") }
            throw error
        }
        let written: String
        do {
            written = try recorder.close(keepsOld: false, progress: finishing)
        } catch {
            if !hadBodies { rmdir(bodies) }
            let next = error.code == .noSpace ? "free some space, and import again" : "import again"
            throw CassetteError(error.code, "\(error.message). Nothing was written: \(next).", cause: error)
        }
        let status = recorder.currentStatus
        guard status.lost == 0 else {
            let reason = status.firstProblem?.message ?? "the disk failed"
            try CassettePlace.remove(written)
            _ = try? CassetteReferences(familyOf: path, mayBeMissing: true).tidy(BodyStore(cassettePath: path))
            if !hadBodies { rmdir(bodies) }
            throw CassetteError(
                .unwritable,
                "\(status.lost) of \(report.exchanges) exchanges could not be written to \"\(path)\" (\(reason)): free some space, and import again."
            )
        }
        report.leaks = status.leaks.map(\.description)
        return report
    }

    /// An empty cassette would look like a recording of a run that made no requests.
    private static func nothing(in files: [String], _ losses: [ImportReport.Loss]) -> CassetteError {
        let names = files.map { "\"\($0)\"" }.joined(separator: ", ")
        let reasons = losses.map { " (\($0.count) of them: \($0.text), the first at \($0.first))" }.joined()
        return CassetteError(
            .notFound, "there is no exchange to import in \(names)\(reasons): nothing was written; name a file with recorded exchanges.")
    }

    /// A value for a placeholder that is nowhere has a misspelled name, and the one that was meant is not filled in.
    private func checkPlaceholders(_ use: PlaceholderUse) throws(CassetteError) {
        let unused = self.options.placeholders.keys.filter { !use.names.contains($0) }.sorted()
        guard !unused.isEmpty else { return }
        let names = unused.map { "\"\($0)\"" }.joined(separator: ", ")
        throw CassetteError(
            .notFound, "no recording has the placeholder \(names): write the name as it is between the brackets, or omit --placeholder.")
    }
}

/// One file or folder that is imported.
final class RecordingSource {
    let path: String
    let kind: ImportKind
    private let isFolder: Bool
    /// Nil if the file is not a ZIP archive.
    private let zip: ZipArchive?
    /// When the file was last written.
    let time: Timestamp
    let context: ImportContext

    init(_ path: String, losses: ImportLosses, options: ImportOptions) throws(CassetteError) {
        self.path = path
        self.context = ImportContext(file: path, losses: losses, options: options)
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CassetteError(.notFound, "\"\(path)\" cannot be read (\(String(cString: strerror(errno)))): check the path.")
        }
        #if canImport(Darwin)
        let written = status.st_mtimespec
        #else
        let written = status.st_mtim
        #endif
        self.time = Timestamp(microseconds: Int64(written.tv_sec) * 1_000_000 + Int64(written.tv_nsec) / 1000)
        self.isFolder = status.st_mode & S_IFMT == S_IFDIR
        if options.kind == nil, !self.isFolder, let other = OtherTool(path: path) { throw other.error(path) }
        if !self.isFolder, try RecordingSniffer.isZipInGzip(path) {
            throw CassetteError(.damaged, "\"\(path)\" is a ZIP archive that was compressed again with gzip: use gunzip first.")
        }
        if !self.isFolder { try RecordingSniffer.checkPacking(of: path) }
        if self.isFolder { self.zip = nil } else { self.zip = try RecordingSniffer.isZip(path) ? ZipArchive(path) : nil }
        if let kind = options.kind {
            self.kind = kind
        } else if let zip = self.zip {
            self.kind = FiddlerReader.isArchive(zip) ? .fiddler : .har
        } else {
            self.kind = try RecordingSniffer.kind(of: path, isFolder: self.isFolder, self.context)
        }
    }

    /// The files that the import reads: one, or those of a folder of stubs.
    func files() throws(CassetteError) -> [String] {
        guard self.isFolder else { return [self.path] }
        var files = [self.path]
        func add(_ folder: borrowing OpenFolder, _ path: String, depth: Int) throws(CassetteError) {
            var names: [String] = []
            try folder.forEachName { names.append($0) }
            for name in names {
                files.append("\(path)/\(name)")
                if depth < WireMockReader.folderDepth, let inner = try? OpenFolder(name, in: folder) {
                    try add(inner, "\(path)/\(name)", depth: depth + 1)
                }
            }
        }
        let folder = try OpenFolder(self.path)
        for name in ["mappings", "__files"] {
            guard let inner = try? OpenFolder(name, in: folder) else { continue }
            files.append("\(self.path)/\(name)")
            try add(inner, "\(self.path)/\(name)", depth: 1)
        }
        return files
    }

    /// The text of an HTTP Archive: the file itself, or the `.har` file in a ZIP archive.
    func archive() throws(CassetteError) -> any SourceBytes {
        guard let zip else { return try SourceInput.open(self.path) }
        guard let name = zip.names.first(where: { $0.hasSuffix(".har") }) else {
            throw CassetteError(.damaged, "\"\(self.path)\" contains no file whose name ends in \".har\": name another file.")
        }
        return MemoryBytes(try zip.read(name))
    }

    /// Reads the exchanges whose destination is known.
    func read(_ deliver: (ImportedExchange) throws -> Void) throws {
        try self.readAll { exchange in
            var exchange = exchange
            if self.isWire { exchange.fill(self.context.placeholders) }
            guard !AddressCheck.isHidden(exchange.request.url, self.context) else { return }
            try deliver(exchange)
        }
    }

    /// Whether the recording consists of messages and not of values, whose placeholders are filled when they are read.
    private var isWire: Bool {
        switch self.kind {
        case .mitmproxy, .httprr, .fiddler, .burp, .warc, .raw: true
        case .har, .polly, .vcrpy, .vcr, .betamax, .goVCR, .cassetter, .testProxy, .wiremock, .hoverfly, .nock, .charles, .postman: false
        }
    }

    private func readAll(_ deliver: (ImportedExchange) throws -> Void) throws {
        self.context.entry = 0
        switch self.kind {
        case .har, .polly: try HARReader(self.context, zip: self.zip, isPolly: self.kind == .polly).read(self.archive(), deliver)
        case .mitmproxy: try FlowReader(self.context).read(SourceInput.open(self.path), deliver)
        case .vcrpy, .vcr, .betamax, .goVCR, .cassetter:
            let reader = InteractionListReader(self.context, self.kind)
            let file = try SourceInput.open(self.path)
            if try RecordingSniffer.isJSON(self.path) {
                try reader.read(JSONStream(file, self.context), deliver)
            } else {
                try reader.read(YAMLStream(file, self.context), deliver)
            }
        case .testProxy: try TestProxyReader(self.context).read(JSONStream(SourceInput.open(self.path), self.context), deliver)
        case .wiremock: try WireMockReader(self.context, isFolder: self.isFolder).read(isFolder: self.isFolder)
        case .hoverfly: try HoverflyReader(self.context).read(JSONStream(SourceInput.open(self.path), self.context))
        case .nock: try NockReader(self.context).read(JSONStream(SourceInput.open(self.path), self.context), deliver)
        case .charles: try CharlesReader(self.context).read(JSONStream(SourceInput.open(self.path), self.context), deliver)
        case .postman: try PostmanReader(self.context).read(JSONStream(SourceInput.open(self.path), self.context), deliver)
        case .httprr: try HTTPRecordReader(self.context).read(SourceInput.open(self.path), deliver)
        case .fiddler:
            guard let zip else { throw CassetteError(.damaged, "\"\(self.path)\" is not a Fiddler session archive: name a .saz file.") }
            try FiddlerReader(self.context, zip).read(deliver)
        case .burp: try BurpReader(self.context).read(SourceInput.open(self.path), deliver)
        case .warc: try WARCReader(self.context).read(SourceInput.open(self.path), deliver)
        case .raw: try RawMessageReader(self.context).read(SourceInput.open(self.path), deliver)
        }
    }
}

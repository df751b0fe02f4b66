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

    /// For people.
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
        }
    }

    var isArchive: Bool { self == .har || self == .polly }
}

/// How an import is done.
public struct ImportOptions: Sendable {
    /// Nil to find it by the content of each file.
    public var kind: ImportKind?
    /// What is redacted; nil keeps secrets.
    public var redaction: RedactionRules? = .standard
    /// Fails if anything is lost.
    public var isStrict = false
    /// Scheme and authority of requests that name no host, as stubs do.
    public var base = "http://localhost"

    public init() {}
}

/// What an import has done.
public struct ImportReport: Sendable {
    public struct Loss: Sendable, Hashable {
        public var kind: String
        public var count: Int
        /// What is lost each time.
        public var text: String
        /// The file, line and entry of the first.
        public var first: String
    }

    public struct Source: Sendable, Hashable {
        public var file: String
        public var kind: ImportKind
        public var exchanges: Int
    }

    public var sources: [Source]
    public var losses: [Loss]
    /// Secrets that are left in the cassette.
    public var leaks: [String]

    public var exchanges: Int { self.sources.reduce(0) { $0 + $1.exchanges } }
}

/// Something was lost in an import that may lose nothing: no cassette was made.
public struct StrictImportError: Error {
    public var losses: [ImportReport.Loss]
}

/// Makes a cassette of other tools' recordings, by way of a recorder: redacted, decoded and written as traffic is.
///
/// Writes a new cassette or none.
public struct CassetteImporter {
    private let options: ImportOptions
    private let digest: @Sendable () -> any ContentDigest

    public init(_ options: ImportOptions, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }) {
        self.options = options
        self.digest = digest
    }

    /// - Parameters:
    ///   - path: of the cassette, which must not exist.
    ///   - isCancelled: asked before each exchange.
    ///
    /// Throws `CassetteError` and `StrictImportError`.
    public func run(
        _ files: [String], to path: String, version: String, isCancelled: () -> Bool = { false },
        notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> ImportReport {
        guard !CassettePlace.exists(path) else {
            throw CassetteError(.unwritable, "\"\(path)\" already exists, and an import replaces no file: name a new one.")
        }
        // Before a file is made: what cannot be read makes none.
        let losses = ImportLosses()
        let bodies = FileLocation(path).sibling(FileLocation(path).bodiesName)
        let hadBodies = CassettePlace.exists(bodies)
        let sources = try files.map { try RecordingSource($0, losses: losses, options: self.options) }
        var plan = try RecordingPlan(path: path, mode: .once, exists: false)
        // A killed import leaves no half cassette under the name.
        plan.target = .stage
        plan.headMembers = [try HARExtras.member(of: sources)].compactMap { $0 }
        guard
            let recorder = try Recorder(
                plan, version: version, redaction: self.options.redaction, digest: self.digest, notify: notify)
        else { throw CassetteError(.unwritable, "\"\(path)\" cannot be recorded: name another file.") }
        var report = ImportReport(sources: [], losses: [], leaks: [])
        do {
            let intake = ExchangeIntake(recorder)
            for source in sources {
                let before = intake.count
                try source.read { exchange in
                    guard !isCancelled() else { throw CassetteError(.unwritable, "the import was interrupted: nothing was written.") }
                    intake.put(exchange, source.context, fileTime: source.time)
                }
                report.sources.append(.init(file: source.path, kind: source.kind, exchanges: intake.count - before))
            }
            report.losses = losses.all
            if self.options.isStrict, !report.losses.isEmpty { throw StrictImportError(losses: report.losses) }
        } catch {
            try recorder.discard()
            // Empty by now, if there was a long body.
            if !hadBodies { rmdir(bodies) }
            throw error
        }
        let written = try recorder.close(keepsOld: false)
        let status = recorder.currentStatus
        guard status.lost == 0 else {
            let reason = status.firstProblem?.message ?? "the disk failed"
            try CassettePlace.remove(written)
            throw CassetteError(
                .unwritable,
                "\(status.lost) of \(report.exchanges) exchanges could not be written to \"\(path)\" (\(reason)): make room, and import again."
            )
        }
        report.leaks = status.leaks.map(\.description)
        return report
    }
}

/// One file or folder that is imported.
final class RecordingSource {
    let path: String
    let kind: ImportKind
    private let isFolder: Bool
    /// Nil if the file is no ZIP archive.
    private let zip: ZipArchive?
    /// When it was last written.
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
        if self.isFolder { self.zip = nil } else { self.zip = try RecordingSniffer.isZip(path) ? ZipArchive(path) : nil }
        if let kind = options.kind {
            self.kind = kind
        } else if self.zip != nil {
            self.kind = .har
        } else {
            self.kind = try RecordingSniffer.kind(of: path, isFolder: self.isFolder, self.context)
        }
    }

    /// The text of an HTTP Archive: the file, or the one of that kind in a ZIP archive.
    func archive() throws(CassetteError) -> any SourceBytes {
        guard let zip else { return try SourceFile(self.path) }
        guard let name = zip.names.first(where: { $0.hasSuffix(".har") }) else {
            throw CassetteError(.damaged, "\"\(self.path)\" has no file in it whose name ends in \".har\": name another file.")
        }
        return MemoryBytes(try zip.read(name))
    }

    func read(_ deliver: (ImportedExchange) throws -> Void) throws {
        self.context.entry = 0
        switch self.kind {
        case .har, .polly: try HARReader(self.context, zip: self.zip, isPolly: self.kind == .polly).read(self.archive(), deliver)
        case .mitmproxy: try FlowReader(self.context).read(SourceFile(self.path), deliver)
        case .vcrpy, .vcr, .betamax, .goVCR, .cassetter:
            let file = try SourceFile(self.path)
            let reader = InteractionListReader(self.context, self.kind)
            if try RecordingSniffer.isJSON(file) {
                try reader.read(JSONStream(file, self.context), deliver)
            } else {
                try reader.read(YAMLStream(file, self.context), deliver)
            }
        case .testProxy: try TestProxyReader(self.context).read(JSONStream(SourceFile(self.path), self.context), deliver)
        case .wiremock: try WireMockReader(self.context, isFolder: self.isFolder).read(isFolder: self.isFolder, deliver)
        case .hoverfly: try HoverflyReader(self.context).read(JSONStream(SourceFile(self.path), self.context), deliver)
        }
    }
}

internal import ArgumentParser
internal import CassetteImport
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import Platform
internal import TapeBytes
internal import TapeProxy

struct LintCommand: ParsableCommand, HasFailureStatus {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Say what is wrong with uploads, and what to write instead.",
        discussion: """
            Reads cassettes, recordings of other tools such as HAR, and bodies as they are: a file with the bytes of a multipart body. \
            Nothing is written.

            Exit codes: 0 nothing found, 1 defects found, 2 a file could not be read.

            Examples:
              wiretape lint Cassettes/pets.json
              wiretape lint session.har
              wiretape lint body.bin --boundary X
              wiretape lint body.bin --type 'multipart/form-data; boundary=X' --for php
              wiretape lint Cassettes/*.json --json | jq '.[].problem'
            """)

    @Argument(help: "Cassettes, recordings of other tools, or bodies.", completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("The files are bodies with this boundary, without the two hyphens.", valueName: "text"))
    var boundary: String?

    @Option(help: ArgumentHelp("The files are bodies with this Content-Type.", valueName: "type"))
    var type: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Also say what this server would refuse, with its usual limits.", valueName: "server"))
    var server: UploadServer?

    @Flag(help: "Print all defects as a JSON array, one object per line.")
    var json = false

    static let failure = ExitStatus.trouble

    func validate() throws {
        guard self.boundary == nil || self.type == nil else {
            throw ValidationError("--boundary and --type cannot be used together: write the boundary into the type.")
        }
        if let type = self.type, MediaType(Array(type.utf8)[...]).essence.split(separator: "/").count != 2 {
            throw ValidationError("--type takes a whole Content-Type, such as application/json, and not \"\(type)\".")
        }
        if let boundary = self.boundary, MultipartBoundary(boundary) == nil {
            throw ValidationError("--boundary takes 1 to \(MultipartBoundary.longest) bytes without line ends, as after \"boundary=\".")
        }
    }

    func run() throws {
        SignalThread.unblock()
        guard try self.lint() == 0 else { throw ExitCode(ExitStatus.different) }
    }

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: how many defects there are.
    func lint() throws -> Int {
        try CareCommand.run(failure: Self.failure) {
            let output = try OutputFile(path: nil)
            var report = LintReportPage(isJSON: self.json, server: self.server, write: output.write)
            let result = Result {
                var torn: CassetteError?
                for file in self.files {
                    let error = try self.lint(file, &report)
                    torn = torn ?? error
                }
                try report.finish()
                if let torn { throw torn }
            }
            try output.finish()
            try result.get()
            return report.defects
        }
    }

    /// - Returns: an error if the file is a torn cassette, of which only the beginning was checked.
    private func lint(_ file: String, _ report: inout LintReportPage) throws -> CassetteError? {
        let name = self.files.count > 1 ? file : nil
        if self.boundary != nil || self.type != nil {
            try report.body(file, headers: self.headers, name: file)
            return nil
        }
        guard let body = try Self.body(file) else {
            do {
                let cassette = try RecordedCassette(path: file)
                try report.cassette(cassette, name: name)
                return cassette.damage.map {
                    CassetteError(.damaged, "\($0.summary), so the rest was not checked: repair it with \"wiretape decode \(file)\"")
                }
            } catch let error as CassetteError where error.code != .notFound {
                try self.other(file, error, &report, name: name)
                return nil
            }
        }
        try report.body(file, headers: body, name: file)
        return nil
    }

    /// A recording of another tool. It is imported into a folder that is removed afterwards.
    private func other(_ file: String, _ problem: CassetteError, _ report: inout LintReportPage, name: String?) throws {
        var options = ImportOptions()
        // The cassette is removed before anyone sees it, and redaction would change bytes that are judged.
        options.redaction = nil
        let folder = try RunFolder(environment: ChildEnvironment.parent)
        defer { folder.remove() }
        let path = "\(folder.path)/imported.json"
        do {
            let imported = try CassetteImporter(options, digest: { FastSHA256() }).run([file], to: path, version: Version.current)
            for loss in imported.losses { Terminal.error.complain("\(loss.text) (\(loss.first)).") }
        } catch let error as CassetteError {
            // The first message names the place in a damaged cassette.
            throw Self.isCassette(file) ? problem : Self.unknown(file, error)
        }
        try report.cassette(RecordedCassette(path: path), name: name)
    }

    private static func unknown(_ file: String, _ error: CassetteError) -> CassetteError {
        CassetteError(
            error.code,
            "\"\(file)\" is no cassette, no recording of a tool that is known here, and does not begin as a multipart body does; if it is the body of a request, add --boundary or --type"
        )
    }

    private static func isCassette(_ file: String) -> Bool {
        guard let bytes = Self.beginning(file, 512) else { return false }
        return bytes.withUnsafeBytes { ByteSearch.contains("\"wiretape\"", in: $0) }
    }

    // MARK: Bodies

    /// Nil if the file cannot be read; whoever reads all of it says why.
    private static func beginning(_ file: String, _ count: Int) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return read < 0 ? nil : Array(bytes.prefix(read))
    }

    private var headers: HeaderFields {
        HeaderFields(["Content-Type: " + (self.type ?? "multipart/form-data; boundary=\(self.boundary ?? "")")])
    }

    /// The field that a multipart body would need, by its first line; nil for other files.
    private static func body(_ file: String) throws -> HeaderFields? {
        let text = (Self.beginning(file, 1024) ?? []).drop { $0 == 13 || $0 == 10 }
        guard text.starts(with: [45, 45]), let end = text.firstIndex(of: 10) else { return nil }
        var line = text[(text.startIndex + 2)..<end]
        while let last = line.last, last == 13 || last == 32 { line.removeLast() }
        guard let boundary = MultipartBoundary(line) else { return nil }
        var fields = HeaderFields()
        fields.append(line: Array("Content-Type: multipart/form-data; boundary=".utf8) + boundary.bytes)
        return fields
    }
}

/// What `lint` prints about one or more files: pages for people, or one JSON array.
private struct LintReportPage {
    /// A body is held in memory, in bytes.
    private static let bodyLimit = 512 << 20

    private let isJSON: Bool
    private let server: UploadServer?
    private let write: (UnsafeRawBufferPointer) throws -> Void
    private var page: LintPage
    private var writer = JSONWriter()
    private(set) var defects = 0

    init(isJSON: Bool, server: UploadServer?, write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.isJSON = isJSON
        self.server = server
        self.write = write
        self.page = LintPage(screen: .current) { text in
            var text = text
            try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
        }
        self.writer.beginArray(.lines)
    }

    mutating func body(_ file: String, headers: HeaderFields, name: String) throws {
        let contents = BodyContents(try WholeFile.read(file, limit: Self.bodyLimit))
        guard let lint = try BodyLint(contents, headers: headers, BodyLint.Context(server: self.server)) else { return }
        try self.take(lint, exchange: 1, message: .request, what: "\"\(name)\"", file: name, isCoded: false)
    }

    mutating func cassette(_ cassette: RecordedCassette, name: String?) throws {
        let reader = BodyReader(cassettePath: cassette.path)
        for index in 0..<cassette.count {
            let interaction = try cassette.interaction(at: index)
            for message in MessageChoice.allCases {
                let (body, headers) = interaction.body(of: message)
                guard let body, message == .request || MultipartType(headers) != nil else { continue }
                let contents = try BodyContents(body, headers: headers, reader: reader, readsBroken: true)
                let context = BodyLint.Context(side: message, body: body, server: self.server)
                guard let lint = try BodyLint(contents, headers: headers, context) else { continue }
                let request = "\(message.rawValue) of \(interaction.request.method) \(interaction.request.url)"
                let what = (name.map { "\"\($0)\", " } ?? "") + "exchange \(index + 1), \(request)"
                try self.take(
                    lint, exchange: index + 1, message: message, what: what, file: name,
                    isCoded: !body.codings.isEmpty || contents.inflated != nil)
            }
        }
    }

    private mutating func take(
        _ lint: BodyLint, exchange: Int, message: MessageChoice, what: String, file: String?, isCoded: Bool
    ) throws {
        self.defects += lint.findings.count
        guard self.isJSON else { return try self.page.show(lint, what, isCoded: isCoded) }
        for finding in lint.findings { BodyJSON.append(finding, exchange: exchange, message: message, file: file, to: &self.writer) }
    }

    mutating func finish() throws {
        guard self.isJSON else { return try self.page.finish() }
        self.writer.endArray()
        var text = VisibleText.whole(self.writer.bytes, .json) + "\n"
        try text.withUTF8 { try self.write(UnsafeRawBufferPointer($0)) }
    }
}

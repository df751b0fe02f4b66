internal import ArgumentParser
internal import CassetteTools
internal import CassetteModel
internal import TapeBytes
internal import TapeProxy

struct VerifyCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that a cassette and the bodies beside it are what was recorded.",
        discussion: """
            Reads every exchange and restores every body: sizes, digests, codings, the files beside the cassette and raw slices. \
            Changes nothing without --accept. Problems go to standard output, one per line; notes, such as files that no exchange refers to, go to \
            standard error.

            Exit codes: 0 no problem, 1 problems, 2 the cassette could not be read.

            Examples:
              wiretape verify Cassettes/pets.json
              wiretape verify Cassettes/pets.json --allow-edited
              wiretape verify Cassettes/pets.json --accept
              wiretape verify Cassettes/pets.json --json | jq '.[].file'
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Flag(help: "Do not count bodies edited by hand as problems: a replay sends them as they are now.")
    var allowEdited = false

    @Flag(help: "First accept bodies edited by hand: write their new sizes, digests and Content-Lengths into the cassette.")
    var accept = false

    @Flag(help: "Print all findings as a JSON array, one object per line.")
    var json = false

    @OptionGroup var fetching: FetchOptions

    static let failure = ExitStatus.trouble

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        try change(&self.file)
    }

    func run() throws {
        SignalThread.unblock()
        guard try self.verify() == 0 else { throw ExitCode(ExitStatus.different) }
    }

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: how many problems there are.
    func verify() throws -> Int {
        CareCommand.mentionRecordings(beside: self.file)
        return try CareCommand.run {
            if self.accept { try self.acceptEdits() }
            let verifier = try CassetteVerifier(
                path: self.file, digest: CareCommand.digest, unanswerable: { ReplayCheck.problem(of: $0) })
            let output = try OutputFile(path: nil)
            var list = FindingList(isJSON: self.json, allowsEdited: self.allowEdited, write: { try output.write($0) }) {
                Terminal.error.complain($0)
            }
            let progress = ProgressLine(label: "verifying")
            defer { progress.end() }
            try verifier.run(progress: { progress.show($0, of: $1) }) { try list.append($0) }
            progress.end()
            try list.finish(count: verifier.count, of: self.file)
            try output.finish()
            return list.problems
        }
    }
}

extension VerifyCommand {
    private func acceptEdits() throws {
        let progress = ProgressLine(label: "accepting")
        defer { progress.end() }
        let accepted = try EditAcceptance.run(
            self.file, recorder: "wiretape \(Version.current)", digest: CareCommand.digest, progress: { progress.show($0, of: $1) })
        progress.end()
        for one in accepted {
            for text in one.texts { Terminal.error.complain("accepted in exchange \(one.exchange), \(text)") }
        }
        if accepted.isEmpty { Terminal.error.complain("no body of \"\(self.file)\" was edited: nothing to accept.") }
    }
}

/// The findings of a check: one line each, or JSON.
struct FindingList {
    private let isJSON: Bool
    private let allowsEdited: Bool
    private let write: (String) throws -> Void
    private let note: (String) -> Void
    private(set) var problems = 0
    private var isEmpty = true
    private var writer = JSONWriter()

    /// - Parameters:
    ///   - allowsEdited: whether edited bodies are accepted.
    ///   - write: receives the output's bytes.
    ///   - note: receives lines that are not problems, unless the output is JSON.
    init(
        isJSON: Bool, allowsEdited: Bool, write: @escaping (UnsafeRawBufferPointer) throws -> Void, note: @escaping (String) -> Void
    ) {
        self.isJSON = isJSON
        self.allowsEdited = allowsEdited
        self.note = note
        self.write = { text in
            var text = text
            try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
        }
    }

    mutating func append(_ finding: CareFinding) throws {
        let isProblem = finding.isProblem && !(self.allowsEdited && finding.kind == .changedBody)
        if isProblem { self.problems += 1 }
        if self.isJSON { return try self.appendJSON(finding, isProblem) }
        let line = VisibleText.line(Self.words(finding))
        if isProblem { try self.write(line + "\n") } else { self.note(line) }
    }

    mutating func finish(count: Int, of file: String) throws {
        if self.isJSON { return try self.write(self.isEmpty ? "[]\n" : "\n]\n") }
        guard self.problems == 0 else { return }
        try self.write("\"\(VisibleText.line(file))\": \(Quantity.count(count, "exchange")), no problems.\n")
    }

    private static func words(_ finding: CareFinding) -> String {
        var place: [String] = []
        if let exchange = finding.exchange { place.append("exchange \(exchange)") }
        if let message = finding.message { place.append("\(message) body") }
        if let file = finding.file { place.append("\"\(file)\"") }
        return place.isEmpty ? finding.text : "\(place.joined(separator: ", ")): \(finding.text)"
    }

    private mutating func appendJSON(_ finding: CareFinding, _ isProblem: Bool) throws {
        self.writer.removeAll()
        self.writer.beginObject(.inline)
        self.writer.member("kind")
        self.writer.string(finding.kind.rawValue)
        self.writer.member("problem")
        self.writer.bool(isProblem)
        if let exchange = finding.exchange {
            self.writer.member("exchange")
            self.writer.integer(exchange)
        }
        if let id = finding.id {
            self.writer.member("id")
            self.writer.integer(id)
        }
        if let message = finding.message {
            self.writer.member("message")
            self.writer.string(message)
        }
        if let file = finding.file {
            self.writer.member("file")
            self.writer.string(file)
        }
        self.writer.member("text")
        self.writer.string(finding.text)
        self.writer.endObject()
        try self.write((self.isEmpty ? "[\n  " : ",\n  ") + VisibleText.whole(self.writer.bytes, .json))
        self.isEmpty = false
    }
}

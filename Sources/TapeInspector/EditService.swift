internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// An edited text of a recorded exchange, which is checked and then written in place of the recorded text.
struct EditService {
    /// A problem in the new text that people should know before it is written.
    struct Problem: Hashable {
        var kind: String
        var text: String
        /// Both counted from 1; nil if the problem has no specific place.
        var line: Int?
        var column: Int?
        /// Whether the problem prevents writing the text.
        var isBlocking: Bool
    }

    struct Checked {
        /// nil if the text is not an exchange.
        var interaction: Interaction?
        var problems: [Problem]
        /// The differences between the recorded exchange and the text.
        var changes: [FieldChange]
        /// Whether sizes, digests or lengths can be corrected.
        var isCorrectable = false

        var obstacle: Problem? { self.problems.first(where: \.isBlocking) }
    }

    struct Written {
        /// The number of the file that has the edit now; nil if another file has replaced it.
        var epoch: Int?
        /// Why files that the cassette no longer names still exist; nil if they do not.
        var problem: String?
    }

    let cassette: InspectedCassette
    let moment: InspectedCassette.Moment
    let tools: InspectorTools
    let ordinal: Int

    /// The recorded text.
    private func recorded() throws -> [UInt8] { try self.moment.epoch.bytes(self.moment.epoch.ranges[self.ordinal]) }

    // MARK: Checks

    /// Checks a text like the commands that check cassettes: its JSON, its format, the sizes and digests of its bodies, and secrets in it.
    func check(_ text: [UInt8]) throws -> Checked {
        let document: JSONDocument
        do {
            document = try JSONDocument(text)
        } catch {
            return Self.refused("json", error.reason, line: error.line, column: Self.column(of: error.offset, in: text))
        }
        guard document.root.kind == .object else { return Self.refused("json", "expected an object", line: 1, column: 1) }
        let edited: Interaction
        do throws(CassetteError) {
            edited = try InteractionDecoder.decode(text, at: .textAlone)
        } catch {
            let (line, words) = Self.parted(error.message)
            return Self.refused("format", words, line: line, column: nil)
        }
        let old = try? InteractionDecoder.decode(self.recorded(), at: .textAlone)
        let verifier = try CassetteVerifier(path: self.cassette.path, digest: self.tools.digest, unanswerable: self.tools.unanswerable)
        // Existing problems do not prevent fixing something else.
        let known = Set(old.map { verifier.findings(in: $0).map(\.text) } ?? [])
        let correction = self.correction(of: edited)
        let miscounted = Set(correction.wrong.map(\.side.rawValue))
        // Problems that can be corrected are reported one by one below.
        var problems = verifier.findings(in: edited).filter { $0.kind != .changedBody || !miscounted.contains($0.message ?? "") }.map {
            finding in
            Problem(
                kind: finding.kind.rawValue, text: finding.message.map { "\($0) body: \(finding.text)" } ?? finding.text,
                isBlocking: finding.isProblem && finding.kind != .changedBody && !known.contains(finding.text))
        }
        problems += correction.wrong.map {
            Problem(kind: CareFinding.Kind.changedBody.rawValue, text: "\($0.side.rawValue) body: \($0.text)", isBlocking: false)
        }
        if let twin = self.twin(of: edited.id) {
            problems.append(
                Problem(
                    kind: CareFinding.Kind.duplicateID.rawValue,
                    text: Self.twinWords(twin, edited.id),
                    isBlocking: true))
        }
        problems += try self.leaks(edited, old)
        var changes: [FieldChange] = []
        if let old {
            // A body that cannot be read is already among the problems.
            let comparison = ExchangeComparison(
                old: self.cassette.path, new: self.cassette.path, showsAll: true, digest: self.tools.digest)
            changes = (try? comparison.changes(old, edited)) ?? []
        }
        return Checked(
            interaction: edited, problems: problems, changes: changes, isCorrectable: !correction.wrong.isEmpty)
    }

    private func correction(of interaction: Interaction) -> BodyCorrection {
        BodyCorrection(interaction, reader: BodyReader(cassettePath: self.cassette.path), digest: self.tools.digest)
    }

    /// The text with the actual sizes, digests and lengths of its bodies.
    func corrected(_ text: [UInt8]) throws -> [UInt8] {
        guard let interaction = try? InteractionDecoder.decode(text, at: .textAlone) else {
            throw LocalAnswer(
                status: 422, reason: "Unprocessable Content", code: "edit",
                message: "the text is not an exchange: fix the problems in it first.")
        }
        return try self.correction(of: interaction).corrected(text)
    }

    private static func refused(_ kind: String, _ text: String, line: Int?, column: Int?) -> Checked {
        Checked(problems: [Problem(kind: kind, text: text, line: line, column: column, isBlocking: true)], changes: [])
    }

    /// Counts characters, as editors do.
    private static func column(of offset: Int, in text: [UInt8]) -> Int {
        let before = text[..<min(offset, text.count)]
        let start = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        return String(decoding: before[start...], as: UTF8.self).count + 1
    }

    /// The line number at the beginning of a decoder's message, and the rest without its advice for files.
    private static func parted(_ message: String) -> (line: Int?, words: String) {
        let words = message.split(separator: ";").first.map(String.init) ?? message
        guard words.hasPrefix("line "), let colon = words.firstIndex(of: ":"), let line = Int(words[..<colon].dropFirst(5)) else {
            return (nil, words)
        }
        return (line, String(words[words.index(after: colon)...].drop { $0 == " " }))
    }

    private func twin(of id: Int) -> Int? {
        let rows = self.moment.rows
        return (0..<rows.count).first { $0 != self.ordinal && rows[$0].id == id }.map { $0 + 1 }
    }

    private static func twinWords(_ twin: Int, _ id: Int) -> String { "exchange \(twin) already has the id \(id): choose another one" }

    /// Secrets that are not in the recorded text.
    private func leaks(_ edited: Interaction, _ old: Interaction?) throws -> [Problem] {
        let number = self.ordinal + 1
        let known = Set(try old.map { try self.tools.secrets($0, number, self.cassette.path).map(\.place) } ?? [])
        return try self.tools.secrets(edited, number, self.cassette.path).map { found in
            // Only its kind is known. The number in the placeholder depends on the values in the whole cassette.
            let kind = found.placeholder?.prefix { $0 != ":" }.drop { $0 == "{" }
            return Problem(
                kind: "secret",
                text: "\(found.place) contains \(kind.map { "what the rules call \($0)" } ?? "a secret"): write a placeholder instead",
                isBlocking: !known.contains(found.place))
        }
    }

    /// The exchange of a text that is to be sent, not written. Refused only if the text is not an exchange.
    func sendable(_ text: [UInt8]) throws -> Interaction {
        let checked = try self.check(text)
        guard let interaction = checked.interaction else {
            throw LocalAnswer(
                status: 422, reason: "Unprocessable Content", code: "edit",
                message: "nothing was sent: \(checked.obstacle?.text ?? "the text is not an exchange").")
        }
        return interaction
    }

    // MARK: Writing

    /// Replaces the file with one that contains the text. A crash leaves either the old file or the new one.
    ///
    /// Throws `inUse` while a recorder has the cassette.
    func write(_ text: [UInt8]) throws -> Written {
        guard self.moment.epoch.damage == nil else {
            throw CassetteError(
                .damaged,
                "\"\(self.cassette.path)\" is torn: \"wiretape decode\" repairs it, and keeps the removed part in a file next to it.")
        }
        let recorded = try self.recorded()
        let rewriter = try CassetteAppender.open(self.cassette.path, recorder: "wiretape \(Version.current)").finish()
        // Otherwise the page would treat another file as its own after this edit, and overlook changes elsewhere in it.
        guard self.moment.epoch.isCurrent(at: self.cassette.path), self.ordinal < rewriter.reader.count,
            try rewriter.reader.bytes(at: self.ordinal) == recorded
        else {
            throw InspectorService.stale
        }
        let id = try InteractionDecoder.decode(text, at: .textAlone).id
        // The file may have more exchanges by now than the ones that were checked.
        for place in 0..<rewriter.reader.count where place != self.ordinal {
            guard try rewriter.reader.bytes(at: place).withUnsafeBytes({ InteractionSummaryReader.read($0)?.id }) == id else { continue }
            throw LocalAnswer(
                status: 422, reason: "Unprocessable Content", code: "edit",
                message: "nothing was written: \(Self.twinWords(place + 1, id)).")
        }
        let trimmed = Array(text.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed())
        try rewriter.rewrite(order: Array(0..<rewriter.reader.count)) { place, _ in place == self.ordinal ? trimmed : nil }
        // Keep its lock: a recorder that starts before the files are removed could lose what it has just written. It also ensures that the
        // file read here is the one that was written.
        defer { withExtendedLifetime(rewriter) {} }
        var written = Written(epoch: try self.epoch(of: trimmed, among: rewriter.reader.count))
        // Edited content must not remain in a file.
        guard recorded.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { return written }
        do throws(CassetteError) {
            try CassetteReferences(familyOf: self.cassette.path).tidy(BodyStore(cassettePath: self.cassette.path))
        } catch {
            written.problem = "body files that the cassette no longer refers to were not removed: \(error.message)"
        }
        return written
    }

    /// The number of the file that was just written; nil if a program that takes no lock has already replaced it.
    private func epoch(of text: [UInt8], among count: Int) throws -> Int? {
        while self.cassette.refresh(), !self.cassette.moment.epoch.isCurrent(at: self.cassette.path) {}
        let epoch = self.cassette.moment.epoch
        guard epoch.isCurrent(at: self.cassette.path), epoch.ranges.count == count, try epoch.bytes(epoch.ranges[self.ordinal]) == text
        else { return nil }
        return epoch.number
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    // MARK: Answers

    static func bytes(_ checked: Checked) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("problems")
        writer.beginArray(.inline)
        for problem in checked.problems {
            writer.element()
            writer.beginObject(.inline)
            writer.member("kind")
            writer.string(problem.kind)
            writer.member("text")
            writer.string(problem.text)
            for (name, number) in [("line", problem.line), ("column", problem.column)] {
                guard let number else { continue }
                writer.member(named: name)
                writer.integer(number)
            }
            writer.member("blocks")
            writer.bool(problem.isBlocking)
            writer.endObject()
        }
        writer.endArray()
        writer.member("correctable")
        writer.bool(checked.isCorrectable)
        DiffService.write(checked.changes, &writer)
        writer.endObject()
        return writer.bytes + [10]
    }
}

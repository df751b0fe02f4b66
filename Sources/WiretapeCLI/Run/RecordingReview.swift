internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import Platform
internal import TapeInspector
internal import TapeProxy
internal import TapeRecorder

/// Shows what a new recording changes, then replaces the old cassette with it, removes it, or keeps both.
///
/// Does not know the terminal: a closure supplies the answer.
struct RecordingReview {
    typealias Answer = ReviewQuestion.Answer

    enum Outcome: String, Sendable, Hashable {
        /// Nothing differs except what differs each time; no question is asked.
        case same
        case accepted
        case rejected
        case pending
    }

    let old: String
    /// In the same folder as `old`: they share the folder of their bodies.
    let new: String
    /// Receives the diff in pieces.
    let write: (String) -> Void
    let ask: () -> Answer
    /// The question that the page of the run asks; nil if there is no page.
    var question: ReviewQuestion?

    /// An incomplete recording, or one with a secret in it, never replaces another, whatever the answer.
    static func mayBeTaken(_ status: RecorderStatus) -> Bool {
        status.lost == 0 && status.leaks.isEmpty && status.unchecked == 0 && !status.isLeftOpen
    }

    /// Asks on the terminal and in the pages that are open; keeps both if there is neither.
    ///
    /// - Parameters:
    ///   - assumesYes: accepts without asking.
    ///   - page: the page of the run, if it has one.
    static func onTerminal(old: String, new: String, assumesYes: Bool, page: ServedPage?) -> RecordingReview {
        var review = RecordingReview(old: old, new: new, write: { Terminal.error.write($0) }) {
            if assumesYes { return .accept }
            let isTerminal = Terminal.error.isTerminal && Terminal.input.isTerminal
            let question = page.flatMap { $0.isWatched ? $0.question : nil }
            guard isTerminal || question != nil else { return .later }
            // Ctrl-C also counts as an answer: it keeps both.
            SignalThread.unblock()
            let words = "y replaces it, n removes the new recording, Return keeps both"
            switch (isTerminal, question) {
            case (true, nil):
                Terminal.error.write("replace \(VisibleText.line(old))? \(words): ")
                return Answer(readLine())
            case (true, let question?):
                Terminal.error.write("replace \(VisibleText.line(old))? answer in the page, or here: \(words): ")
                return self.firstAnswer(question)
            case (false, let question):
                guard let question else { return .later }
                question.open()
                Terminal.error.complain("the page asks whether the new recording replaces \"\(old)\".")
                return self.pagesAnswer(to: question, isWatched: { page?.isWatched == true }) { question.wait(milliseconds: $0)?.answer }
            }
        }
        review.question = page?.question
        return review
    }

    /// How often the terminal is checked, in milliseconds.
    private static let lookInterval = 100

    /// After this many milliseconds without a page, the answer is no longer awaited. Longer than a page takes to reload or to reconnect.
    static let absenceLimit = 10_000

    /// The answer of a page. Keeps both once no page has been open for a while.
    ///
    /// - Parameter wait: waits this many milliseconds for an answer; returns nil if there is none.
    static func pagesAnswer(
        to question: ReviewQuestion, isWatched: () -> Bool, wait: (_ milliseconds: Int) -> Answer?
    ) -> Answer {
        var absence = 0
        while absence < self.absenceLimit {
            if let answer = wait(self.lookInterval) { return answer }
            absence = isWatched() ? 0 : absence + self.lookInterval
        }
        // A page may have answered at this very moment.
        _ = question.answer(.later, by: .terminal)
        return question.wait(milliseconds: 0)?.answer ?? .later
    }

    /// The terminal's answer or a page's.
    private static func firstAnswer(_ question: ReviewQuestion) -> Answer {
        question.open()
        while true {
            if let reply = question.wait(milliseconds: self.lookInterval) {
                if reply.side == .page { Terminal.error.line("\(reply.answer.rawValue), in the page") }
                return reply.answer
            }
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            // The terminal delivers whole lines, so the available input can be read without waiting for more.
            if poll(&input, 1, 0) > 0 { _ = question.answer(Answer(readLine()), by: .terminal) }
        }
    }

    func run() throws(CassetteError) -> Outcome {
        do throws(CassetteError) {
            let outcome = try self.decide()
            self.question?.end(outcome.rawValue)
            return outcome
        } catch {
            self.question?.fail(error.message)
            throw error
        }
    }

    private func decide() throws(CassetteError) -> Outcome {
        guard try self.showDiff() else {
            try self.accept()
            return .same
        }
        switch self.ask() {
        case .accept:
            try self.accept()
            return .accepted
        case .reject:
            try self.reject()
            return .rejected
        case .later: return .pending
        }
    }

    /// - Returns: whether anything differs.
    private func showDiff() throws(CassetteError) -> Bool {
        let (old, new) = (try RecordedCassette(path: self.old), try RecordedCassette(path: self.new))
        do {
            var page = DiffPage(isJSON: false) { self.write(String(decoding: $0, as: UTF8.self)) }
            // Both have one folder, and the recording compares each body with a file that is there.
            let comparison = CassetteDiff(old: old, new: new, showsAll: false, checksFiles: false, digest: { FastSHA256() })
            let same = try comparison.run { try page.append($0) }
            if page.differs { try page.finish(same: same) }
            return page.differs
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "\"\(self.old)\" and \"\(self.new)\" cannot be compared: \(error)", cause: error)
        }
    }

    private func accept() throws(CassetteError) {
        let locks = (try CassetteLock(self.old), try CassetteLock(self.new))
        defer { withExtendedLifetime(locks) {} }
        try BodyStore(cassettePath: self.old).removeJournals(of: self.old)
        try CassettePlace.replace(self.old, with: self.new)
        self.tidy()
    }

    private func reject() throws(CassetteError) {
        let locks = (try CassetteLock(self.old), try CassetteLock(self.new))
        defer { withExtendedLifetime(locks) {} }
        try CassettePlace.remove(self.new)
        self.tidy()
    }

    /// Removes bodies without a reference. Removes none if a cassette that shares the folder cannot be read.
    private func tidy() {
        guard let store = try? BodyStore(cassettePath: self.old) else { return }
        _ = try? CassetteReferences(familyOf: self.old).tidy(store)
    }
}

extension ReviewQuestion.Answer {
    /// `y`, `yes`, `n` and `no`; anything else, and the end of the input, keeps both.
    init(_ line: String?) {
        switch line?.lowercased().filter({ $0 != " " && $0 != "\r" }) {
        case "y", "yes": self = .accept
        case "n", "no": self = .reject
        default: self = .later
        }
    }
}

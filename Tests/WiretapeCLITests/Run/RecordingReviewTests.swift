import CassetteRedaction
import TapeInspector
import TapeProxy
import TapeRecorder
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct RecordingReviewTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func write(_ name: String, path: String, date: String) throws {
        try self.folder.write(
            """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2026-01-02T03:04:05Z",
              "request": { "method": "GET", "url": "http://origin.test/\(path)" },
              "response": { "status": 204, "headers": ["Date: \(date)"] } } ] }
            """.utf8, to: name)
    }

    /// - Returns: the outcome, the output, and the number of questions.
    private func review(_ answer: RecordingReview.Answer) throws -> (outcome: RecordingReview.Outcome, shown: String, asked: Int) {
        var shown = ""
        var asked = 0
        let review = RecordingReview(
            old: self.folder.file("pets.json"), new: self.folder.file("pets.new.json"), write: { shown += $0 },
            ask: {
                asked += 1
                return answer
            })
        return (try review.run(), shown, asked)
    }

    private func text(_ name: String) throws -> String { String(decoding: try self.folder.read(name), as: UTF8.self) }

    @Test func anAcceptedRecordingTakesTheOldOnesPlace() throws {
        try self.write("pets.json", path: "old", date: "1")
        try self.write("pets.new.json", path: "new", date: "2")
        let result = try self.review(.accept)
        #expect(result.outcome == .accepted && result.asked == 1)
        #expect(result.shown.contains("- 1 GET http://origin.test/old\n") && result.shown.contains("+ 1 GET http://origin.test/new\n"))
        #expect(try self.folder.names() == ["pets.json"])
        #expect(try self.text("pets.json").contains("origin.test/new"))
    }

    @Test func incompleteOrLeakingRecordingIsNotOffered() {
        var status = RecorderStatus()
        #expect(RecordingReview.mayBeTaken(status))
        status.lost = 1
        #expect(!RecordingReview.mayBeTaken(status))
        status.lost = 0
        status.leaks = [CassetteLeak(exchange: 1, place: "line 9", placeholder: Placeholder(kind: "jwt", number: 1), spelling: .plain)]
        #expect(!RecordingReview.mayBeTaken(status))
    }

    @Test func aRejectedRecordingGoesAway() throws {
        try self.write("pets.json", path: "old", date: "1")
        try self.write("pets.new.json", path: "new", date: "2")
        #expect(try self.review(.reject).outcome == .rejected)
        #expect(try self.folder.names() == ["pets.json"])
        #expect(try self.text("pets.json").contains("origin.test/old"))
    }

    @Test func withoutAnAnswerBothStay() throws {
        try self.write("pets.json", path: "old", date: "1")
        try self.write("pets.new.json", path: "new", date: "2")
        #expect(try self.review(.later).outcome == .pending)
        #expect(try self.folder.names() == ["pets.json", "pets.new.json"])
    }

    @Test func aQuestionEndsOnceNoPageIsOpen() {
        let question = ReviewQuestion(old: "pets.json", new: "pets.new.json")
        question.open()
        var waited = 0
        // Open, gone for the duration of a reload, open again, then closed.
        let answer = RecordingReview.pagesAnswer(to: question, isWatched: { waited < 1000 || (5000..<6000).contains(waited) }) {
            waited += $0
            return question.wait(milliseconds: 0)?.answer
        }
        #expect(answer == .later && (15_000...17_000).contains(waited), "\(waited)")
        #expect(!question.answer(.accept, by: .page), "who comes back finds it answered")
    }

    @Test func aPagesAnswerIsTakenHoweverLateItIs() {
        let question = ReviewQuestion(old: "pets.json", new: "pets.new.json")
        question.open()
        var waited = 0
        let answer = RecordingReview.pagesAnswer(to: question, isWatched: { true }) {
            waited += $0
            if waited == 1_000_000 { _ = question.answer(.accept, by: .page) }
            return question.wait(milliseconds: 0)?.answer
        }
        #expect(answer == .accept && waited == 1_000_000)
        let last = ReviewQuestion(old: "pets.json", new: "pets.new.json")
        last.open()
        let inTheLastMoment = RecordingReview.pagesAnswer(to: last, isWatched: { false }) { _ in
            _ = last.answer(.accept, by: .page)
            return nil
        }
        #expect(inTheLastMoment == .accept)
    }

    @Test func reviewWithoutDifferencesAsksNobody() throws {
        try self.write("pets.json", path: "same", date: "1")
        try self.write("pets.new.json", path: "same", date: "2")
        let result = try self.review(.later)
        #expect(result.outcome == .same && result.asked == 0 && result.shown.isEmpty)
        #expect(try self.folder.names() == ["pets.json"])
        #expect(try self.text("pets.json").contains("Date: 2"))
    }

    @Test(
        arguments: [
            ("y", .accept), ("Yes ", .accept), ("n", .reject), ("NO", .reject), ("", .later), ("maybe", .later), (nil, .later),
        ] as [(String?, RecordingReview.Answer)])
    func onlyAClearAnswerIsOne(_ line: String?, _ answer: RecordingReview.Answer) {
        #expect(RecordingReview.Answer(line) == answer)
    }
}

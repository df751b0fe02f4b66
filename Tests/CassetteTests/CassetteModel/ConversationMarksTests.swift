@testable import CassetteModel
import Testing

struct ConversationMarksTests {
    private func marks(_ list: [Int?]) -> ConversationMarks {
        var marks = ConversationMarks()
        for after in list { marks.append(after: after) }
        return marks
    }

    @Test func equalMarksAreOneRun() {
        let marks = self.marks([0, 0, 1, nil, nil, 1])
        #expect(marks.runs.map(\.count) == [2, 1, 2, 1])
        #expect((0..<8).map { marks[$0] } == [0, 0, 1, nil, nil, 1, nil, nil])
        #expect(marks[-1] == 0)
        #expect(!marks.isTrivial && self.marks([nil, nil]).isTrivial && ConversationMarks().isTrivial)
    }

    @Test func pastTheLimitMessagesComeEarlyAndNeverWaitForTooMany() {
        var marks = ConversationMarks()
        for after in 0..<ConversationMarks.limit + 10 { marks.append(after: after) }
        #expect(marks.runs.count == ConversationMarks.limit)
        #expect(marks[ConversationMarks.limit + 5] == ConversationMarks.limit - 1)
        #expect(marks[ConversationMarks.limit + 10] == nil)
    }
}
